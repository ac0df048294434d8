import type { InlineKeyboardMarkup } from 'grammy/types'
import { loadOpenConsent } from '#shared/access/consents/index.ts'
import { loadOpenHostConsent } from '#shared/access/hosts/index.ts'
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

/** Answers `/start`, with or without the parameter of a link (`oauth_<nonce>`, `connect_<nonce>`, `join_<nonce>`). */
export const answerStart = async (deps: Deps, chatId: number, person: TelegramPerson, start: string): Promise<void> => {
  const texts = textsFor(person.locale)
  const [, kind, nonce = ''] = /^(oauth|connect|join)_(.+)$/.exec(start) ?? []
  const reply: Reply =
    start === ''
      ? { text: texts.welcome(deps.settings.brand.name) }
      : kind === 'oauth' || kind === 'connect'
        ? await consentReply(deps, texts, person, kind, nonce)
        : kind === 'join'
          ? await invitationReply(deps, texts, person, nonce)
          : { text: texts.unknown }
  await sendToPerson(deps, chatId, reply.text, reply.keyboard)
}

/**
 * Links the person to the consent page. The page decides who may approve the request; receiving this message grants
 * nothing.
 */
const consentReply = async (
  deps: Deps,
  texts: Texts,
  person: TelegramPerson,
  kind: 'oauth' | 'connect',
  nonce: string,
): Promise<Reply> => {
  const user = await findPersonByIdentity(deps, telegramIdentity(person))
  try {
    const load = kind === 'oauth' ? loadAsking : loadAskingHost
    const name = await load(deps, nonce, user?.id ?? '')
    const url = `${deps.settings.baseUrl}/${kind}/consent/mini-app?tg=${nonce}`
    return {
      text: texts.consent(name),
      keyboard: { inline_keyboard: [[{ text: texts.consentButton, web_app: { url } }]] },
    }
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    return { text: error.code === 'app_suspended' ? texts.appSuspended : texts.consentOver }
  }
}

const loadAsking = async (deps: Deps, nonce: string, userId: string): Promise<string> =>
  (await loadOpenConsent(deps, nonce, userId)).app.name

const loadAskingHost = async (deps: Deps, nonce: string, userId: string): Promise<string> =>
  (await loadOpenHostConsent(deps, nonce, userId)).client.name

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
