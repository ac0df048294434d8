/**
 * Replaces `@aws-sdk/credential-provider-node` in the bundles.
 *
 * The default chain tries profile files, SSO, web identities, processes and the metadata services of EC2 and ECS. It adds five
 * clients to every bundle (about 90 KB, and 15 ms of every cold start). A Lambda function has its role's credentials in its
 * environment only. They are valid for as long as the execution environment exists, so they never expire here.
 */

/** Credentials for the SDK's signer. */
export type Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string }

/**
 * Creates the provider that the SDK's clients use by default.
 *
 * @throws {Error} named `CredentialsProviderError`, as the SDK's own provider does, if the environment has no credentials.
 */
export function defaultProvider(): () => Promise<Credentials> {
  return async () => {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env
    if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) {
      const error = new Error('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not in the environment')
      error.name = 'CredentialsProviderError'
      throw error
    }
    const credentials = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY }
    return AWS_SESSION_TOKEN ? { ...credentials, sessionToken: AWS_SESSION_TOKEN } : credentials
  }
}
