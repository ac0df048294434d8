import { succeeded, type TestPlatform } from './platform.ts'

/** Asks for a code to a person's new e-mail address. @returns the code */
export const requestEmailCode = async (platform: TestPlatform, token: string, email: string): Promise<string> => {
  await succeeded(platform.call('PUT', '/console/email', { token, body: { email } }))
  return /\b\d{6}\b/.exec(platform.mails.findLast(({ to }) => to === email)?.text ?? '')?.[0] ?? ''
}

/** Gives a person an e-mail address for notifications. */
export const giveEmail = async (platform: TestPlatform, token: string, email: string): Promise<void> => {
  const code = await requestEmailCode(platform, token, email)
  await succeeded(platform.call('POST', '/console/email/confirm', { token, body: { code } }))
}
