import type { Role } from '#shared/identity/people/index.ts'
import { type Translate, translator } from '#shared/kernel/messages.ts'
import { quoteName } from '#shared/kernel/names.ts'

/**
 * Makes the messages of the bot in one language. They are plain text, so names in them are never parsed as markup. Names are
 * quoted and cleaned, so that none reads as a sentence of the bot.
 */
const textsIn = (t: Translate) => ({
  welcome: (platform: string) =>
    t(
      'Hi! I’m the sign-in bot of {platform}.\n\nI help you approve what apps can do in your workspaces and join workspaces you’re invited to. Both start with a link: open it, and it brings you back here.',
      { platform },
    ),
  unknown: t(
    'I don’t know that command. Open the link you were given again, send /inbox for what waits for you, or /start to see what I can do.',
  ),
  consent: (app: string) =>
    t(
      '{app} is requesting access to one of your workspaces.\n\nReview the request before you decide. It expires 10 minutes after it was made.',
      { app: quoteName(app) },
    ),
  consentButton: t('Review request'),
  consentOver: t(
    'This request is closed. It was already decided, or it expired after 10 minutes. Start the installation again from the app to get a new link.',
  ),
  appSuspended: t(
    'The platform has suspended this app, so you can’t give it access. Contact the app’s developer for details.',
  ),
  join: (workspace: string, role: Role) =>
    t(
      'You’re invited to join the workspace {workspace} as {role}.\n\nIts members will see your name. Do you want to join?',
      { workspace: quoteName(workspace), role: roleOf(t, role) },
    ),
  recover: (workspace: string) =>
    t(
      'The platform’s operator invites you to take over the workspace {workspace} as its owner.\n\nIts present owners become members, and everyone in it will see your name. Do you want to take it over?',
      { workspace: quoteName(workspace) },
    ),
  joinButton: t('Join'),
  notNowButton: t('Not now'),
  joined: (workspace: string) =>
    t('You joined {workspace}. Sign in to the console to get started.', { workspace: quoteName(workspace) }),
  alreadyIn: (workspace: string) =>
    t('You’re already a member of {workspace}. The invitation wasn’t used.', { workspace: quoteName(workspace) }),
  notJoined: t('You didn’t join. If you change your mind, open the invitation link again before it expires.'),
  invitationOver: t(
    'This invitation is no longer valid. It was used or revoked, or it expired. Ask the person who invited you for a new one.',
  ),
  openButton: t('Open'),
  yes: t('Yes'),
  no: t('No'),
  declineButton: t('Decline to answer'),
  replyToAnswer: t('To answer, reply to this message.'),
  answerWith: (answer: string) => t('✓ You answered {answer}.', { answer: quoteName(answer) }),
  answerSent: t('✓ Your answer was sent.'),
  answerDeclined: t('✓ You declined to answer. The agent has been notified.'),
  alreadyAnswered: t('This question has already been answered.'),
  questionOver: t(
    'The agent no longer waits for an answer. Its run has ended, or the question expired after 24 hours.',
  ),
  questionOfOthers: t('You can’t answer this question. It’s from a workspace or a chat that you have no access to.'),
  answerRefused: (problem: string) => t('Your answer {problem}. Reply to the question again.', { problem }),
  agentBusy: t('The agent is busy with other runs, so your answer wasn’t sent. Try again in a minute.'),
  workspaceSuspended: t('The platform has suspended this workspace, so your answer wasn’t sent.'),
  noReply: t('That message doesn’t take a reply here. Open it to respond.'),
  blocked: (supportUrl?: string) =>
    supportUrl
      ? t('Your account is blocked. Contact support: {supportUrl}', { supportUrl })
      : t('Your account is blocked. Contact support.'),
})

/** Returns a role as part of a sentence. */
const roleOf = (t: Translate, role: Role): string =>
  t('{role, select, owner {an owner} admin {an admin} other {a member}}', { role })

export type Texts = ReturnType<typeof textsIn>

/** Returns the texts in the user's language, or in English. @param locale BCP 47 */
export const textsFor = (locale: string): Texts => textsIn(translator(locale))
