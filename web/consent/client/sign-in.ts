import { call } from '../../session/call.ts'
import { localSignIn, resolveUrl } from '../../session/config.ts'
import { initDataKey } from '../../session/init-data.ts'
import { initData } from '../../session/messenger.ts'
import { lastName } from '../../session/session.ts'
import * as ways from '../../session/sign-in.ts'
import { safeUrl } from '../../session/text.ts'
import { t } from '../../ui/messages.ts'
import { consentPath, startPrefix, tg } from './config.ts'
import { $, setText, showSection } from './dom.ts'
import { signedIn } from './session.ts'
import type { ConsentStatus } from './types.ts'

/** Fields the login widget returned for this link. */
export const widgetAnswer = (): Record<string, string> | undefined => ways.takeWidgetAnswer(tg, ['tg'])

export const signInWithWidget = async (fields: Record<string, string>, key: string): Promise<void> =>
  signedIn(await ways.signInWithWidget(fields, key))

export const signInWithInitData = async (): Promise<void> =>
  signedIn(await call('POST', 'console/bot/webapp-auth', { body: { init_data: initData }, key: initDataKey() }))

export const signInLocally = async (): Promise<void> => {
  const [user, workspace] = [$<HTMLInputElement>('user').value.trim(), $<HTMLInputElement>('workspace').value.trim()]
  signedIn(await ways.signInLocally(user, workspace))
}

/** Names the app before the person signs in. */
export const showAsking = ({ name, developer_name, verified }: NonNullable<ConsentStatus['app']>): void => {
  setText('asking-app', name)
  setText('asking-developer', developer_name || t('an unnamed developer'))
  $('asking-verified').hidden = !verified
}

/** Shows the available sign-in methods. @param note why the page asks again */
export const showSignIn = async (note = ''): Promise<void> => {
  setText('sign-in-note', note)
  $('sign-in-note').hidden = !note
  $('sign-in-form').hidden = !localSignIn
  const name = lastName()
  if (name) $<HTMLInputElement>('user').value = name
  const bot = await ways.loadBotInfo()
  const url = safeUrl(bot?.url)
  if (url) {
    for (const id of ['hand-over-link', 'hand-over-again'])
      $<HTMLAnchorElement>(id).href = `${url}?start=${startPrefix}${tg}`
  }
  $('hand-over').hidden = !url
  const widget = ways.widgetUsername(bot)
  $('widget').hidden = !widget
  if (widget) ways.addWidget($('widget-place'), widget, resolveUrl(`${consentPath}?tg=${tg}`), tg)
  setText(
    'no-way',
    bot
      ? t('Open this link in Telegram to sign in.')
      : t('Telegram can’t be reached right now. Reload this page in a minute.'),
  )
  $('no-way').hidden = Boolean(widget || url) || localSignIn
  showSection('sign-in')
}
