import { covers, isScope, SCOPES, type Scope } from '../../../kernel/scopes.ts'
import { TOOLS } from '../../tools/catalogue.ts'
import type { Look } from './subject.ts'

const isDangerous = (scope: string): boolean => isScope(scope) && SCOPES[scope][1]

/** What a person allows who installs it, in the words of the consent screen. */
export const dangerousScopes: Look = ({ app }) => {
  const dangerous = app.requested_scopes.filter(isDangerous)
  const evidence = {
    requested: app.requested_scopes,
    dangerous: dangerous.map((scope) => ({ scope, description: isScope(scope) ? SCOPES[scope][0] : '' })),
  }
  return dangerous.length === 0
    ? { status: 'passed', message: 'The app asks for no dangerous scope.', evidence }
    : {
        status: 'warning',
        message: `The app asks for ${dangerous.join(', ')}.`,
        fix: 'Say in the description what they are for, or ask for less.',
        evidence,
      }
}

/**
 * The scopes that the app asks for against those that its test runs used tools of. A test run shows tools only: what the agent
 * does by the API itself leaves no such trace, so that an unused scope is a question, not a fault.
 */
export const scopesUsed: Look = ({ app, testRuns }) => {
  const tools = [...new Set(testRuns.flatMap(({ steps }) => steps.flatMap(({ tool }) => (tool ? [tool] : []))))].sort()
  const used = new Set<Scope>(tools.length > 0 ? ['tools:invoke'] : [])
  for (const tool of tools) {
    if (Object.hasOwn(TOOLS, tool)) used.add(TOOLS[tool as keyof typeof TOOLS].scope)
  }
  const unused = app.requested_scopes.filter(
    (scope) => isScope(scope) && ![...used].some((one) => one === scope || covers([scope], one)),
  )
  const dangerous = unused.filter(isDangerous)
  const evidence = {
    requested: app.requested_scopes,
    test_runs: testRuns.map(({ run }) => run.id),
    tools_used: tools,
    unused,
    unused_dangerous: dangerous,
  }
  if (testRuns.length === 0) {
    return { status: 'skipped', message: 'There is no test run to compare with.', evidence }
  }
  return dangerous.length === 0
    ? { status: 'passed', message: 'Test runs used every dangerous scope that the app asks for.', evidence }
    : {
        status: 'warning',
        message: `No test run used ${dangerous.join(', ')}.`,
        fix: 'Make a test run that shows what they are for, or ask for less.',
        evidence,
      }
}
