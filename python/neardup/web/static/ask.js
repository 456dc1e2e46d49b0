// Requests to our own server, and the line at the bottom that says what came of them.
const secret = document.querySelector('meta[name="neardup"]').content;
const line = document.getElementById("message");
let timer;

export function say(text, stays = 3500) {
  line.textContent = text;
  line.classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => line.classList.remove("shown"), stays);
}

// Posts JSON; gives back the answer, or null after saying what went wrong.
export async function post(path, body) {
  try {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-neardup": secret },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    let told;
    try {
      told = JSON.parse(text);
    } catch {
      told = { what: text };
    }
    if (answer.ok) return told;
    say([told.what, told.hint].filter(Boolean).join(": "), 8000);
  } catch {
    say("The server does not answer. Is neardup ui still running?", 8000);
  }
  return null;
}

export async function get(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer;
}
