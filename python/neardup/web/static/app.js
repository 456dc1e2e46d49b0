// The application's own script: loads what each page needs. No library, no build step.
import { go } from "./keys.js";
import { decisions } from "./decide.js";
import { list } from "./list.js";
import { slider } from "./slider.js";
import { judging } from "./judge.js";
import { frames } from "./frames.js";

go();
decisions();
const rows = list();
slider(rows);
judging();
frames();
