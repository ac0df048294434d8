/** Style of the messenger's page. Colours have a contrast of at least 4.5 : 1 in both schemes. */
export const style = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --paper: #fff; --ground: #eef1f5; --line: #d0d7de;
  --mine: #d9ecff; --act: #0a58ca; --on-act: #fff; --note: #6b3d00; --note-paper: #fff1d6; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9da7b3; --paper: #1c2128; --ground: #0d1117; --line: #3d444d;
    --mine: #17375e; --act: #6cb0ff; --on-act: #0d1117; --note: #ffd08a; --note-paper: #3a2a12; }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; background: var(--ground); color: var(--ink);
  font: 16px/1.45 system-ui, sans-serif; }
header { background: var(--paper); border-bottom: 1px solid var(--line); position: sticky; top: 0; }
#notice { margin: 0; padding: .35rem 1rem; background: var(--note-paper); color: var(--note); font-size: .9rem; text-align: center; }
#bar { max-width: 40rem; margin: 0 auto; padding: .5rem 1rem; display: flex; flex-wrap: wrap; gap: .25rem 1rem;
  align-items: center; justify-content: space-between; }
h1 { font-size: 1.1rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 0; }
#me { margin: 0; display: flex; gap: .75rem; align-items: center; font-size: .9rem; overflow-wrap: anywhere; }
main { flex: 1; width: 100%; max-width: 40rem; margin: 0 auto; padding: 1rem; display: flex; flex-direction: column; }
#who, .card { background: var(--paper); border: 1px solid var(--line); border-radius: 12px; padding: 1.5rem; }
#who-form, .fields { display: grid; gap: .5rem; }
.card + .card { margin-top: 1rem; }
nav a { color: var(--act); }
code { overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: .5rem 0; }
#chats, .messages { list-style: none; margin: 0; padding: 0; }
.messages { display: flex; flex-direction: column; gap: .5rem; }
.messages li { max-width: 85%; align-self: flex-start; }
.messages li.mine { align-self: flex-end; }
#names { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .5rem; }
#chat { flex: 1; display: flex; flex-direction: column; gap: .75rem; }
#log { flex: 1; }
#messages { list-style: none; margin: 0; padding: 0; display: flex; flex-direction: column; gap: .5rem; }
#empty { text-align: center; }
#messages li { max-width: 85%; align-self: flex-start; }
#messages li.mine { align-self: flex-end; }
.bubble { margin: 0; padding: .5rem .75rem; border-radius: 12px; background: var(--paper); border: 1px solid var(--line);
  white-space: pre-wrap; overflow-wrap: anywhere; }
.mine .bubble { background: var(--mine); }
.row { display: flex; gap: .35rem; margin-top: .35rem; }
.row > * { flex: 1; }
.soft, time { color: var(--soft); font-size: .9rem; font-weight: 400; }
time { display: block; font-size: .75rem; text-align: right; }
label { font-weight: 600; }
input[type=checkbox] { width: 1.25rem; min-height: 1.25rem; vertical-align: middle; }
input:not([type=checkbox]) { width: 100%; min-height: 44px; padding: .5rem .75rem; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--soft); border-radius: 8px; }
button, a.button { display: inline-block; min-height: 44px; padding: .55rem 1rem; font: inherit; font-weight: 600; text-align: center;
  text-decoration: none; color: var(--act); cursor: pointer; background: var(--paper); border: 1px solid var(--soft); border-radius: 8px; }
#change, .reply, #no-reply { min-height: 32px; padding: .2rem .6rem; font-size: .85rem; }
button.primary { background: var(--act); border-color: var(--act); color: var(--on-act); }
button:disabled { opacity: .55; cursor: default; }
#write { display: flex; gap: .5rem; position: sticky; bottom: 0; padding: .5rem 0; background: var(--ground); }
#write button { flex: none; }
.reply { margin-top: .25rem; }
.quote { display: block; border-left: 3px solid var(--act); padding-left: .5rem; color: var(--soft); font-size: .9rem; }
#toast { margin: 0; min-height: 1.45em; text-align: center; color: var(--soft); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
`
