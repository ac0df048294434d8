import type { Role } from '#shared/identity/people/index.ts'
import { quoteName } from '#shared/kernel/names.ts'

/**
 * Messages of the bot, by language. They are plain text, so names in them are never parsed as markup. Names are quoted and
 * cleaned, so that none reads as a sentence of the bot.
 */
const TEXTS = {
  en: {
    welcome: (platform: string) =>
      `Hi! I’m the sign-in bot of ${platform}.\n\nI help you approve what apps can do in your workspaces and join workspaces ` +
      'you’re invited to. Both start with a link: open it, and it brings you back here.',
    unknown:
      'I don’t know that command. Open the link you were given again, send /inbox for what waits for you, or /start to see what I can do.',
    consent: (app: string) =>
      `${quoteName(app)} is requesting access to one of your workspaces.\n\nReview the request before you decide. It expires 10 minutes after it was made.`,
    consentButton: 'Review request',
    consentOver:
      'This request is closed. It was already decided, or it expired after 10 minutes. Start the installation again from the app to get a new link.',
    appSuspended:
      'The platform has suspended this app, so you can’t give it access. Contact the app’s developer for details.',
    join: (workspace: string, role: Role) =>
      `You’re invited to join the workspace ${quoteName(workspace)} as ${ROLE_NAMES[role]}.\n\nIts members will see your name. Do you want to join?`,
    recover: (workspace: string) =>
      `The platform’s operator invites you to take over the workspace ${quoteName(workspace)} as its owner.\n\nIts present owners become members, and everyone in it will see your name. Do you want to take it over?`,
    joinButton: 'Join',
    notNowButton: 'Not now',
    joined: (workspace: string) => `You joined ${quoteName(workspace)}. Sign in to the console to get started.`,
    alreadyIn: (workspace: string) => `You’re already a member of ${quoteName(workspace)}. The invitation wasn’t used.`,
    notJoined: 'You didn’t join. If you change your mind, open the invitation link again before it expires.',
    invitationOver:
      'This invitation is no longer valid. It was used or revoked, or it expired. Ask the person who invited you for a new one.',
    openButton: 'Open',
    yes: 'Yes',
    no: 'No',
    declineButton: 'Decline to answer',
    replyToAnswer: 'To answer, reply to this message.',
    answerWith: (answer: string) => `✓ You answered ${quoteName(answer)}.`,
    answerSent: '✓ Your answer was sent.',
    answerDeclined: '✓ You declined to answer. The agent is told.',
    alreadyAnswered: 'This question has already been answered.',
    questionOver: 'The agent no longer waits for an answer. Its run has ended, or the question expired after 24 hours.',
    questionOfOthers: 'You can’t answer this question. It’s from a workspace or a chat that you have no access to.',
    answerRefused: (problem: string) => `Your answer ${problem}. Reply to the question again.`,
    agentBusy: 'The agent is busy with other runs, so your answer wasn’t sent. Try again in a minute.',
    workspaceSuspended: 'The platform has suspended this workspace, so your answer wasn’t sent.',
    noReply: 'That message doesn’t take a reply here. Open it to respond.',
    blocked: (supportUrl?: string) => `Your account is blocked. Contact support${supportUrl ? `: ${supportUrl}` : '.'}`,
  },
} as const

const ROLE_NAMES: Record<Role, string> = { member: 'a member', admin: 'an admin', owner: 'an owner' }

export type Texts = (typeof TEXTS)['en']

/** Returns the texts in the user's language, or in English. @param locale BCP 47 */
export const textsFor = (locale: string): Texts => {
  const language = locale.split('-')[0] ?? ''
  return language in TEXTS ? TEXTS[language as keyof typeof TEXTS] : TEXTS.en
}
