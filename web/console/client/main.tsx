/**
 * The console. It has no data of its own and knows the platform by the public console API alone. Whatever comes from an app or a
 * person is set as text, never as markup.
 */
import { render } from 'preact'
import { miniApp } from '../../session/config.ts'
import { followColours, followTheme, startParameter, tell, whenThemeChanges } from '../../session/messenger.ts'
import { goInstead } from '../../ui/router.ts'
import { begin } from './account.ts'
import { App } from './app.tsx'
import { placeOf } from './places.ts'
import './style.css'

if (miniApp) {
  followTheme()
  followColours()
  whenThemeChanges((colours) => {
    followTheme(colours)
    followColours(colours)
  })
  tell('web_app_ready')
  tell('web_app_expand')
  const to = placeOf(startParameter)
  if (to) goInstead(to)
}
const root = document.getElementById('app')
if (root) {
  root.replaceChildren()
  render(<App />, root)
}
void begin()
