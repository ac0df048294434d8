import type { InlineKeyboardMarkup } from 'grammy/types'
import { PlatformError } from '../../kernel/errors.ts'
import { openConsent } from '../consents/load.ts'
import type { Deps } from '../deps.ts'
import { personBy } from '../people/arrival.ts'
import { previewInvitation } from '../people/join.ts'
import { belongingTo } from '../people/memberships.ts'
import { type TelegramPerson, telegramIdentity } from '../people/telegram/person.ts'
import { endedInvitation } from './ended-invitation.ts'
import { JOIN, NOT_NOW } from './press.ts'
import { sayTo } from './reply.ts'
import { type Texts, textsFor } from './texts.ts'

interface Reply {
  text: string
  keyboard?: InlineKeyboardMarkup
}

/** Answers `/start`, with the parameter of a link (`oauth_<nonce>`, `join_<nonce>`) or without one. */
export const answerStart = async (deps: Deps, chatId: number, person: TelegramPerson, start: string): Promise<void> => {
  const texts = textsFor(person.locale)
  const [, kind, nonce = ''] = /^(oauth|join)_(.+)$/.exec(start) ?? []
  const reply: Reply =
    start === ''
      ? { text: texts.welcome }
      : kind === 'oauth'
        ? await consentReply(deps, texts, person, nonce)
        : kind === 'join'
          ? await invitationReply(deps, texts, person, nonce)
          : { text: texts.unknown }
  await sayTo(deps, chatId, reply.text, reply.keyboard)
}

/** Hands the person on to the consent page. Whose the request is, that page decides: looking at this message owns nothing. */
const consentReply = async (deps: Deps, texts: Texts, person: TelegramPerson, nonce: string): Promise<Reply> => {
  const user = await personBy(deps, telegramIdentity(person))
  try {
    const { app } = await openConsent(deps, nonce, user?.id ?? '')
    const url = `${deps.settings.baseUrl}/oauth/consent/mini-app?tg=${nonce}`
    return {
      text: texts.consent(app.name),
      keyboard: { inline_keyboard: [[{ text: texts.consentButton, web_app: { url } }]] },
    }
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    return { text: error.code === 'app_suspended' ? texts.appSuspended : texts.consentOver }
  }
}

const invitationReply = async (deps: Deps, texts: Texts, person: TelegramPerson, nonce: string): Promise<Reply> => {
  const preview = await previewInvitation(deps, nonce)
  if (!preview) return { text: await endedInvitation(deps, texts, person, nonce) }
  const { invitation, workspace } = preview
  const user = await personBy(deps, telegramIdentity(person))
  if (user && (await belongingTo(deps, workspace.id, user.id))) return { text: texts.alreadyIn(workspace.name) }
  return {
    text: texts.join(workspace.name, invitation.role),
    keyboard: {
      inline_keyboard: [
        [
          { text: texts.joinButton, callback_data: `${JOIN}${nonce}` },
          { text: texts.notNowButton, callback_data: NOT_NOW },
        ],
      ],
    },
  }
}
