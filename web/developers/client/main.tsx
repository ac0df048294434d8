/**
 * Developer portal. It uses the public developer API, and the integration API in the sandbox. Text from customers is always
 * set as text, never as markup.
 */
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
