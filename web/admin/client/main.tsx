/**
 * The staff’s page. It has no data of its own and knows the platform by the admin API alone. Whatever comes from an app or a
 * person is set as text, never as markup.
 */
import { render } from 'preact'
import { begin } from './account.ts'
import { App } from './app.tsx'
import './style.css'

const root = document.getElementById('app')
if (root) {
  root.replaceChildren()
  render(<App />, root)
}
void begin()
