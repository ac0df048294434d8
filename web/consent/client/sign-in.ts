import { at, localSignIn } from '../../session/config.ts'
import { lastName } from '../../session/session.ts'
import * as ways from '../../session/sign-in.ts'
import { webAddress } from '../../session/text.ts'
import { tg } from './config.ts'
import { $, say, show } from './dom.ts'
import { signedIn } from './session.ts'

/** What the login widget came back with, for this link. */
export const widgetAnswer = (): Record<string, string> | undefined => ways.widgetAnswer(tg, ['tg'])

export const signInWithWidget = async (fields: Record<string, string>, key: string): Promise<void> =>
  signedIn(await ways.signInWithWidget(fields, key))

export const signInWithInitData = async (): Promise<void> => signedIn(await ways.signInWithInitData())

export const signInLocally = async (): Promise<void> => {
  const [user, workspace] = [$<HTMLInputElement>('user').value.trim(), $<HTMLInputElement>('workspace').value.trim()]
  signedIn(await ways.signInLocally(user, workspace))
}

/** The ways to say who one is, and why the page asks (again). */
export const askWho = async (note = ''): Promise<void> => {
  say('sign-in-note', note)
  $('sign-in-note').hidden = !note
  $('sign-in-form').hidden = !localSignIn
  const name = lastName()
  if (name) $<HTMLInputElement>('user').value = name
  const bot = await ways.botInfo()
  const url = webAddress(bot?.url)
  if (url) {
    for (const id of ['hand-over-link', 'hand-over-again']) $<HTMLAnchorElement>(id).href = `${url}?start=oauth_${tg}`
  }
  $('hand-over').hidden = !url
  const widget = ways.widgetOf(bot)
  $('widget').hidden = !widget
  if (widget) ways.addWidget($('widget-place'), widget, at(`oauth/consent?tg=${tg}`), tg)
  say(
    'no-way',
    bot
      ? 'Open this link where you are signed in, in the messaging app.'
      : 'The messaging app cannot be reached at the moment. Load this page again in a minute.',
  )
  $('no-way').hidden = Boolean(widget || url) || localSignIn
  show('sign-in')
}
