// Written by `turnpipe hook install`; `turnpipe hook uninstall` removes it.
import { spawnSync } from "node:child_process";

const command = "turnpipe hook pre-tool-use --agent pi";

export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    const call = {
      hook_event_name: "PreToolUse",
      session_id: ctx.sessionManager.getSessionId(),
      cwd: ctx.cwd,
      tool_name: event.toolName,
      tool_input: event.input,
    };
    const input = JSON.stringify(call);
    const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { input, encoding: "utf8", timeout: 10_000 });
    if (status === 2) return { block: true, reason: stderr };
    const answer = stdout ? JSON.parse(stdout).hookSpecificOutput : undefined;
    if (!answer || answer.permissionDecision === "allow") return;
    const reason = answer.permissionDecisionReason;
    const asks = answer.permissionDecision === "ask" && ctx.hasUI;
    if (asks && (await ctx.ui.confirm("turnpipe", `${event.toolName}: ${reason}`))) return;
    return { block: true, reason };
  });
}
