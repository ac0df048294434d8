import type { Role } from '../../entities/people.ts'

/** What the bot says, by language. Plain text: names are shown as they are, and mean nothing. */
const TEXTS = {
  en: {
    welcome:
      'Hello! I am the platform’s sign-in bot.\n\nYou confirm here what apps may do in your workspaces, and you join ' +
      'workspaces that you are invited to. Both begin with a link from elsewhere: open it, and you come back to me.',
    unknown:
      'I do not know this command. Open the link that you were given again, or send /start to see what I am for.',
    consent: (app: string) =>
      `“${app}” asks for access to one of your workspaces.\n\nLook at what it wants before you decide. The request ends after 10 minutes.`,
    consentButton: 'Look at the request',
    consentOver:
      'This request is over: it was decided, or it is older than 10 minutes. Start the installation again from the app to get a new link.',
    appSuspended: 'This app is suspended by the platform. Nothing can be granted to it now; ask the app’s developer.',
    join: (workspace: string, role: Role) =>
      `You are invited to the workspace “${workspace}” as ${ROLE_NAMES[role]}.\n\nIts members will see your name. Do you want to join?`,
    joinButton: 'Join',
    notNowButton: 'Not now',
    joined: (workspace: string) => `You have joined “${workspace}”. Sign in to the console to work in it.`,
    alreadyIn: (workspace: string) => `You are in “${workspace}” already. The invitation stays as it is.`,
    notJoined: 'You have not joined. The invitation works until it ends: open its link again if you change your mind.',
    invitationOver:
      'This invitation is over: it was used, withdrawn, or has expired. Ask whoever invited you for a new one.',
    openButton: 'Open',
    blocked: 'Your account is blocked. Contact the platform’s support.',
  },
} as const

const ROLE_NAMES: Record<Role, string> = { member: 'a member', admin: 'an admin', owner: 'an owner' }

export type Texts = (typeof TEXTS)['en']

/** The texts in a person's language, as far as there are any. @param locale BCP 47 */
export const textsFor = (locale: string): Texts => {
  const language = locale.split('-')[0] ?? ''
  return language in TEXTS ? TEXTS[language as keyof typeof TEXTS] : TEXTS.en
}
