import type { Opts } from 'grammy/types'
import type { Notification } from '../../entities/notifications.ts'
import type { User } from '../../entities/people.ts'
import { beginning } from '../../kernel/beginning.ts'
import { textsFor } from '../bot/texts.ts'
import { startParameter } from './start-parameter.ts'

/** Of a title and of a body, in characters; the rest is in the console. A message takes 4,096. */
const TITLE = 200
const BODY = 1_500

/**
 * What the bot writes, in the person's language as far as there is one. Plain text, without `parse_mode`: what agents and
 * names say is text and nothing else; and below it stands in whose name it was said, so that no agent passes for the platform.
 */
export const botMessage = (
  baseUrl: string,
  user: Pick<User, 'identity' | 'locale'>,
  notification: Notification,
  { workspaceName, agentName }: { workspaceName: string; agentName: string | undefined },
): Opts<'sendMessage'> => {
  const texts = textsFor(user.locale)
  const from = agentName === undefined ? workspaceName : `${agentName} · ${workspaceName}`
  const text = [cut(notification.title, TITLE), cut(notification.body, BODY), `— ${from}`].filter(Boolean).join('\n\n')
  const parameter = startParameter(notification)
  return {
    // A private chat has the number of its person.
    chat_id: Number(user.identity.split(':')[1]),
    text,
    link_preview_options: { is_disabled: true },
    ...(parameter !== undefined && {
      reply_markup: {
        inline_keyboard: [[{ text: texts.openButton, web_app: { url: miniApp(baseUrl, parameter) } }]],
      },
    }),
  }
}

const cut = (text: string, most: number): string => (text.length > most ? `${beginning(text, most)}…` : text)

/** The console as a Mini App, at what the notification is about; it takes the parameter as from a link `?startapp=`. */
const miniApp = (baseUrl: string, parameter: string): string =>
  `${baseUrl}/app/mini-app?tgWebAppStartParam=${parameter}`
