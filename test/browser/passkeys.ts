import type { Page } from 'playwright-core'
import { beforeAll, beforeEach } from 'vitest'
import type { Stage } from './console/harness.ts'

/** Makes passkeys work on a stage: browsers refuse them for IP addresses, and they belong to the base URL’s host. */
export const onLocalhost = (stage: Stage): void => {
  beforeAll(() => {
    stage.url = stage.url.replace('127.0.0.1', 'localhost')
    Object.assign(stage.platform.deps.settings, { baseUrl: stage.url })
  })
  beforeEach(() => void stage.mayAsk.add(new URL(stage.url).origin))
}

/** Gives a page an authenticator with a fingerprint reader that always recognizes the user (Chrome DevTools Protocol). */
export const addAuthenticator = async (page: Page) => {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return {
    credentials: async () => (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
    /** Removes all passkeys, like a device that was lost and replaced. */
    forget: () => devtools.send('WebAuthn.clearCredentials', { authenticatorId }),
    /** Sets whether the authenticator recognizes its user from now on. */
    recognizes: (isUserVerified: boolean) =>
      devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  }
}
