import { render } from 'preact'
import { miniApp } from '../../session/config.ts'
import { followColours, followTheme, onThemeChange, postEvent, startParameter } from '../../session/messenger.ts'
import { followAppearance } from '../../theme/appearance.ts'
import { redirect } from '../../ui/router.ts'
import { start } from './account.ts'
import { App } from './app.tsx'
import { addressOf } from './places.ts'
import './style.css'
import './work.css'
import './files.css'

if (miniApp) {
  followTheme()
  followColours()
  onThemeChange((colours) => {
    followTheme(colours)
    followColours(colours)
  })
  postEvent('web_app_ready')
  postEvent('web_app_expand')
  const to = addressOf(startParameter)
  if (to) redirect(to)
}
const root = document.getElementById('app')
if (root) {
  root.replaceChildren()
  render(<App />, root)
}
if (!miniApp) followAppearance()
void start()
