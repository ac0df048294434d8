/**
 * Staff page. It uses the admin API only. Text from apps and users is always set as text, never as markup.
 */
import { render } from 'preact'
import { followAppearance } from '../../theme/appearance.ts'
import { start } from './account.ts'
import { App } from './app.tsx'
import './style.css'

const root = document.getElementById('app')
if (root) {
  root.replaceChildren()
  render(<App />, root)
}
followAppearance()
void start()
