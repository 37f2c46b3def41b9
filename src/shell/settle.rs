//! Verdicts whose requirements are decided.

use super::analysis::{Analysis, GitScope, Requirement, Verdict};

impl Analysis {
    /// The verdict once every requirement is looked into: `holds` says why one does not. The first
    /// that does not makes it unknown.
    #[must_use]
    pub fn settled(self, mut holds: impl FnMut(&Requirement) -> Result<(), String>) -> Self {
        let Verdict::ReadOnly { requires } = &self.verdict else {
            return self;
        };
        match requires
            .iter()
            .find_map(|requirement| holds(requirement).err())
        {
            Some(why) => Self {
                verdict: Verdict::Unknown,
                why,
                ..self
            },
            None => Self {
                verdict: Verdict::ReadOnly {
                    requires: Vec::new(),
                },
                ..self
            },
        }
    }

    /// The verdict if nobody can look: requirements about the directory where the shell starts
    /// stay. Whoever reads them can hardly say anything about other directories, so git may only
    /// look at history and settings there.
    #[must_use]
    pub fn without_a_look(self) -> Self {
        let Verdict::ReadOnly { requires } = &self.verdict else {
            return self;
        };
        let elsewhere = requires.iter().find_map(|requirement| {
            let Requirement::CleanGitConfig(place) = requirement;
            (!place.is_here() && place.scope == GitScope::WorkTree).then(|| place.steps.join("/"))
        });
        match elsewhere {
            Some(directory) => Self {
                verdict: Verdict::Unknown,
                why: format!(
                    "git in `{}`, whose configuration is not known",
                    crate::text::terminal_safe_line(&directory)
                ),
                ..self
            },
            None => self,
        }
    }
}
