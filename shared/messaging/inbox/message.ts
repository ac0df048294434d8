import type { InlineKeyboardButton, Opts } from 'grammy/types'
import { type Notification, textsInLanguage } from '#shared/identity/notifications/index.ts'
import type { User } from '#shared/identity/people/index.ts'
import { cleanName, cleanText, quoteName } from '#shared/kernel/names.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import type { InputQuestions } from '#shared/work/runs/index.ts'
import { presentQuestion } from '../bot/questions.ts'
import { textsFor } from '../bot/texts.ts'
import { startParameter } from './start-parameter.ts'

/** Limits of title and body, in characters. Telegram allows 4,096 per message; the console shows the full text. */
const TITLE = 200
const BODY = 1_500

/**
 * Builds the bot's message in the user's language, if available. It has no `parse_mode`, so text from agents is never
 * parsed as markup. The last line names the sender, so that no agent can pass for the platform.
 */
export const botMessage = (
  baseUrl: string,
  user: Pick<User, 'identity' | 'locale'>,
  notification: Notification,
  {
    workspaceName,
    agentName,
    questions,
  }: { workspaceName: string; agentName: string | undefined; questions?: InputQuestions | undefined },
): Opts<'sendMessage'> => {
  const texts = textsFor(user.locale)
  const from = [agentName, workspaceName]
    .filter((name) => name !== undefined)
    .map(quoteName)
    .join(' · ')
  const written = textsInLanguage(notification, user.locale)
  const title = cut(cleanName(written.title), TITLE)
  const asked = questions && presentQuestion(texts, notification, questions)
  const question = asked && cleanText(asked.message)
  // Nobody answers what they can't read in full.
  const answerable = asked && question !== undefined && question.length <= BODY
  const body = answerable ? [question, asked.hint] : [cut(cleanText(written.body), BODY)]
  const text = [title, ...body, `— ${from}`].filter(Boolean).join('\n\n')
  const parameter = startParameter(notification)
  const buttons: InlineKeyboardButton[][] = [
    ...(answerable ? asked.buttons : []),
    ...(parameter === undefined ? [] : [[{ text: texts.openButton, web_app: { url: miniApp(baseUrl, parameter) } }]]),
  ]
  return {
    // In Telegram, a private chat has the same id as its user.
    chat_id: Number(user.identity.split(':')[1]),
    text,
    link_preview_options: { is_disabled: true },
    ...(buttons.length > 0 && { reply_markup: { inline_keyboard: buttons } }),
  }
}

const cut = (text: string, most: number): string => (text.length > most ? `${truncate(text, most)}…` : text)

/** Returns the URL that opens the notification's target in the Mini App, with the parameter of a `?startapp=` link. */
export const miniApp = (baseUrl: string, parameter: string): string =>
  `${baseUrl}/app/mini-app?tgWebAppStartParam=${parameter}`
