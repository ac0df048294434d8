/** Returns the record name that an app's signing secrets are encrypted for. */
export const signingSecretRecord = (appId: string): string => `signing-secret:${appId}`
