import type { InlineKeyboardMarkup } from 'grammy/types'
import { loadOpenConsent } from '#shared/access/consents/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import {
  findBelonging,
  findPersonByIdentity,
  isRecovery,
  loadInvitation,
  type TelegramPerson,
  telegramIdentity,
} from '#shared/identity/people/index.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { endedInvitationReply } from './ended-invitation.ts'
import { JOIN, NOT_NOW } from './press.ts'
import { sendToPerson } from './reply.ts'
import { type Texts, textsFor } from './texts.ts'

interface Reply {
  text: string
  keyboard?: InlineKeyboardMarkup
}

/** Answers `/start`, with or without the parameter of a link (`oauth_<nonce>`, `join_<nonce>`). */
export const answerStart = async (deps: Deps, chatId: number, person: TelegramPerson, start: string): Promise<void> => {
  const texts = textsFor(person.locale)
  const [, kind, nonce = ''] = /^(oauth|join)_(.+)$/.exec(start) ?? []
  const reply: Reply =
    start === ''
      ? { text: texts.welcome(deps.settings.brand.name) }
      : kind === 'oauth'
        ? await consentReply(deps, texts, person, nonce)
        : kind === 'join'
          ? await invitationReply(deps, texts, person, nonce)
          : { text: texts.unknown }
  await sendToPerson(deps, chatId, reply.text, reply.keyboard)
}

/**
 * Links the person to the consent page. The page decides who may approve the request; receiving this message grants
 * nothing.
 */
const consentReply = async (deps: Deps, texts: Texts, person: TelegramPerson, nonce: string): Promise<Reply> => {
  const user = await findPersonByIdentity(deps, telegramIdentity(person))
  try {
    const { app } = await loadOpenConsent(deps, nonce, user?.id ?? '')
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
  const preview = await loadInvitation(deps, nonce)
  if (!preview) return { text: await endedInvitationReply(deps, texts, person, nonce) }
  const { invitation, workspace } = preview
  const user = await findPersonByIdentity(deps, telegramIdentity(person))
  const recovery = isRecovery(invitation)
  if (!recovery && user && (await findBelonging(deps, workspace.id, user.id)))
    return { text: texts.alreadyIn(workspace.name) }
  return {
    text: recovery ? texts.recover(workspace.name) : texts.join(workspace.name, invitation.role),
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
