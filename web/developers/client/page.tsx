import { render } from 'preact'
import { start } from './account.ts'
import { App } from './app.tsx'
import './style.css'

const root = document.getElementById('app')
if (root) {
  root.replaceChildren()
  render(<App />, root)
}
void start()
