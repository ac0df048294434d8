/** Style of the consent page. Colours keep a contrast of at least 4.5 : 1 in both schemes. */
export const style = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --paper: #fff; --ground: #f2f4f7; --line: #d0d7de;
  --act: #0a58ca; --on-act: #fff; --warn: #7a4100; --warn-paper: #fff4e0; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9da7b3; --paper: #161b22; --ground: #0d1117; --line: #3d444d;
    --act: #6cb0ff; --on-act: #0d1117; --warn: #ffc680; --warn-paper: #3a2a12; --bad: #ff8a80; }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 30rem; margin: 0 auto; padding: 1rem; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 12px; padding: 1.5rem; }
@media (min-width: 36rem) { main { padding-top: 4rem; } }
h1 { font-size: 1.3rem; line-height: 1.3; margin: 0; overflow-wrap: anywhere; }
p { margin: .75rem 0; overflow-wrap: anywhere; }
header { display: flex; gap: 1rem; align-items: center; }
#logo { position: relative; flex: none; width: 56px; height: 56px; border-radius: 12px; background: var(--ground);
  border: 1px solid var(--line); display: grid; place-items: center; font-size: 1.5rem; font-weight: 600; overflow: hidden; }
#logo img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; background: var(--paper); }
.badge { margin: .25rem 0 0; font-size: .85rem; color: var(--soft); }
.badge::before { content: "✓ "; }
.hint, footer { color: var(--soft); font-size: .9rem; }
label, legend { display: block; font-weight: 600; margin: 1rem 0 .35rem; padding: 0; }
label .hint { font-weight: 400; }
input:not([type=checkbox]), select { width: 100%; min-height: 44px; padding: .5rem .75rem; font: inherit; color: inherit;
  background: var(--paper); border: 1px solid var(--soft); border-radius: 8px; }
fieldset { border: 0; margin: 1rem 0 0; padding: 0; min-width: 0; }
ul { list-style: none; margin: 0; padding: 0; border: 1px solid var(--line); border-radius: 8px; }
li + li { border-top: 1px solid var(--line); }
li, li label { display: flex; gap: .75rem; align-items: flex-start; }
li, li.sensitive label { padding: .6rem .75rem; }
li.sensitive { padding: 0; background: var(--warn-paper); }
li label { flex: 1; margin: 0; font-weight: 400; cursor: pointer; }
li .mark { flex: none; width: 1.25rem; text-align: center; }
li input { flex: none; width: 1.25rem; height: 1.25rem; margin: .15rem 0 0; accent-color: var(--act); }
li.refused .words { text-decoration: line-through; color: var(--soft); }
li small { display: block; color: var(--soft); }
li.sensitive strong { color: var(--warn); font-size: .85rem; display: block; }
.problem { color: var(--bad); }
.actions { display: flex; gap: .75rem; margin-top: 1.25rem; }
button { flex: 1; min-height: 44px; padding: .5rem 1rem; font: inherit; font-weight: 600; color: inherit; cursor: pointer;
  background: var(--paper); border: 1px solid var(--soft); border-radius: 8px; }
button.primary { background: var(--act); border-color: var(--act); color: var(--on-act); }
button:disabled { opacity: .55; cursor: default; }
a { color: var(--act); }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
`
