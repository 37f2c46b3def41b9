// Lists sessions in the way that Qwen Code publishes: the files by time, of each the first ten lines
// (who, where, first prompt), and the title by a search through the text of its last 64 KiB, then of
// its first 64 KiB. Prints one object a line. usage: node list_in_node.mjs FOLDER
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";

const WINDOW = 64 * 1024;
const LINES = 10;
const MARK = '"subtype":"custom_title"';

function* files(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const inner = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* files(inner);
    else if (entry.name.endsWith(".jsonl")) yield { path: inner, stat: fs.statSync(inner) };
  }
}

async function firstRecords(file) {
  const stream = fs.createReadStream(file);
  const lines = readline.createInterface({ input: stream, crlfDelay: Infinity });
  const records = [];
  for await (const line of lines) {
    if (!line.trim()) continue;
    try {
      records.push(JSON.parse(line));
    } catch {
      // A damaged line counts for nothing.
    }
    if (records.length === LINES) break;
  }
  lines.close();
  stream.destroy();
  return records;
}

/** The value of the last such member in a text, among lines with the mark. */
function lastOf(text, key) {
  let found;
  const pattern = new RegExp(`"${key}"[ \\t]*:[ \\t]*"((?:[^"\\\\\\r\\n]|\\\\.)*)"`, "g");
  for (const match of text.matchAll(pattern)) {
    const start = text.lastIndexOf("\n", match.index) + 1;
    const end = text.indexOf("\n", match.index);
    const line = text.slice(start, end < 0 ? text.length : end);
    if (line.includes(MARK)) found = JSON.parse(`"${match[1]}"`);
  }
  return found;
}

function title(file) {
  const descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  try {
    const { size } = fs.fstatSync(descriptor);
    const buffer = Buffer.alloc(Math.min(size, WINDOW));
    for (const start of size > WINDOW ? [size - WINDOW, 0] : [0]) {
      const length = fs.readSync(descriptor, buffer, 0, buffer.length, start);
      const text = buffer.toString("utf8", 0, length);
      const customTitle = lastOf(text, "customTitle");
      if (customTitle !== undefined) return { customTitle, titleSource: lastOf(text, "titleSource") };
    }
    return {};
  } finally {
    fs.closeSync(descriptor);
  }
}

function prompt(records) {
  for (const record of records) {
    if (record.type !== "user" || record.subtype) continue;
    const shown = record.systemPayload?.displayText ?? record.message?.parts?.find((part) => part.text)?.text;
    if (shown) return Array.from(shown).slice(0, 200).join("");
  }
  return undefined;
}

const found = [...files(process.argv[2])].sort((one, other) => other.stat.mtimeMs - one.stat.mtimeMs);
const items = [];
for (const { path: file, stat } of found) {
  const records = await firstRecords(file);
  if (records.length === 0) continue;
  const { sessionId, cwd, timestamp, gitBranch } = records[0];
  const item = { sessionId, cwd, startTime: timestamp, mtime: stat.mtimeMs, prompt: prompt(records), gitBranch, filePath: file };
  items.push(JSON.stringify({ ...item, ...title(file) }));
}
process.stdout.write(items.join("\n") + "\n");
