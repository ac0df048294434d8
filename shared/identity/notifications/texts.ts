import { type Message, translator } from '#shared/kernel/messages.ts'
import { cleanName, cleanText } from '#shared/kernel/names.ts'
import type { Notification } from './entity.ts'

/** Text of an agent or a person, which stays as it is, or of the platform, which each reader gets in their language. */
export type NotificationText = string | Message

/** Most characters of a title. */
const TITLE = 300

const english = translator('en')

const inEnglish = (text: NotificationText): string =>
  typeof text === 'string' ? text : english(text.text, text.values)

/**
 * Composes the stored texts of a notification. Cleans them, since agents write them and names are in them: the title
 * becomes one line, and hidden characters go.
 * @param body parts, each of which begins a line. A part of the platform is one line.
 */
export const notificationTexts = (
  title: NotificationText,
  body: readonly NotificationText[],
): Pick<Notification, 'title' | 'body' | 'messages'> => {
  const parts = body.map((part) => ({ part, text: cleanText(inEnglish(part)) }))
  const messages = {
    ...(typeof title !== 'string' && { title }),
    ...(body.some((part) => typeof part !== 'string') && {
      body: parts.map(({ part, text }) => (typeof part === 'string' ? text.split('\n').length : part)),
    }),
  }
  return {
    title: cleanName(inEnglish(title), TITLE) || 'Notification',
    body: parts.map(({ text }) => text).join('\n'),
    ...(Object.keys(messages).length > 0 && { messages }),
  }
}

/** Returns the texts of a notification in a reader's language. @param locale BCP 47 */
export const textsInLanguage = (
  { title, body, messages }: Pick<Notification, 'title' | 'body' | 'messages'>,
  locale: string,
): { title: string; body: string } => {
  const inLanguage = translator(locale)
  const lines = body.split('\n')
  return {
    title: messages?.title ? cleanName(inLanguage(messages.title.text, messages.title.values), TITLE) : title,
    body: messages?.body
      ? messages.body
          .flatMap((part) => {
            if (typeof part === 'number') return lines.splice(0, part)
            lines.shift()
            return cleanText(inLanguage(part.text, part.values))
          })
          .join('\n')
      : body,
  }
}
