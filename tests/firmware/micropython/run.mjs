// Plays the scenario under a real MicroPython and prints what it told, as JSON.
//
// The interpreter gets the files of the firmware and of the scenario, and nothing else.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadMicroPython } from "@micropython/micropython-webassembly-pyscript";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const firmware = "hardware_bridge/firmware";
const files = [
  "hardware_bridge/__init__.py",
  `${firmware}/__init__.py`,
  ...readdirSync(join(root, firmware, "aiden_bridge"))
    .filter((name) => name.endsWith(".py"))
    .map((name) => `${firmware}/aiden_bridge/${name}`),
  "tests/firmware/__init__.py",
  "tests/firmware/rig.py",
  "tests/firmware/micropython/__init__.py",
  "tests/firmware/micropython/scenario.py",
  "tests/data/dx1_vectors.json",
];

const printed = [];
const micropython = await loadMicroPython({
  linebuffer: true,
  stdout: (line) => printed.push(line),
});
for (const file of files) {
  micropython.FS.mkdirTree(dirname(`/board/${file}`));
  micropython.FS.writeFile(`/board/${file}`, readFileSync(join(root, file), "utf-8"));
}
// A folder is a package; tests/__init__.py is not wanted here.
try {
  micropython.runPython(`
import sys
sys.path.insert(0, "/board")
print(sys.implementation.name, ".".join([str(part) for part in sys.implementation.version[:2]]))
from tests.firmware.micropython.scenario import tell
with open("/board/tests/data/dx1_vectors.json") as vectors:
    print(tell(vectors.read()))
`);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
console.log(JSON.stringify({ interpreter: printed[0], story: JSON.parse(printed[1]) }));
