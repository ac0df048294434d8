/** Scope of the npm packages, unless an operator brands it. It is what the sources, samples and guides import. */
export const DEFAULT_SCOPE = '@agent-integration-platform'

/** Name of the SDK for Python, in the form of its index. */
export const PYTHON_NAME = 'agent-integration-platform'

const SCOPE = /^@[a-z\d][a-z\d._-]{0,99}$/

/**
 * Reads the scope under which a build names the npm packages: `packageScope` of cdk.json’s context. It is a setting of the
 * whole repository, because the same packages lead from one stage to the next.
 *
 * @throws {Error} saying which scopes are possible
 */
export const packageScopeIn = (cdkJson: string): string => {
  const { packageScope = DEFAULT_SCOPE } = JSON.parse(cdkJson).context ?? {}
  if (typeof packageScope === 'string' && SCOPE.test(packageScope)) return packageScope
  throw new Error('cdk.json: packageScope: use a scope such as @acme: lower-case letters, digits and . _ -')
}

/** Replaces the default scope in a text. */
export const withScope = (text: string, scope: string): string => text.replaceAll(DEFAULT_SCOPE, () => scope)
