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
