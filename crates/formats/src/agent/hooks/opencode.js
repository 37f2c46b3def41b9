// Written by `turnpipe hook install`; `turnpipe hook uninstall` removes it.
import { spawnSync } from "node:child_process";

const command = "turnpipe hook pre-tool-use --agent opencode";

export const Turnpipe = async ({ directory }) => ({
  "tool.execute.before": async ({ tool, sessionID }, { args }) => {
    const call = {
      hook_event_name: "PreToolUse",
      session_id: sessionID,
      cwd: directory,
      tool_name: tool,
      tool_input: args,
    };
    const input = JSON.stringify(call);
    const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { input, encoding: "utf8", timeout: 10_000 });
    if (status === 2) throw new Error(stderr);
    const answer = stdout ? JSON.parse(stdout).hookSpecificOutput : undefined;
    // A plug-in cannot ask: what needs approval by a rule is denied too.
    if (answer && answer.permissionDecision !== "allow") throw new Error(answer.permissionDecisionReason);
  },
});
