import { TOOLS } from '#shared/agents/tools/index.ts'
import { covers, isScope, SCOPES, type Scope } from '#shared/kernel/scopes.ts'
import type { SubmissionCheck } from './subject.ts'

const isDangerous = (scope: string): boolean => isScope(scope) && SCOPES[scope][1]

/** Lists the dangerous permissions that the installing person grants, as the consent screen words them. */
export const dangerousScopes: SubmissionCheck = ({ app }) => {
  const dangerous = app.requested_scopes.filter(isDangerous)
  const evidence = {
    requested: app.requested_scopes,
    dangerous: dangerous.map((scope) => ({ scope, description: isScope(scope) ? SCOPES[scope][0] : '' })),
  }
  return dangerous.length === 0
    ? { status: 'passed', message: 'The app requests no dangerous scopes.', evidence }
    : {
        status: 'warning',
        message: `The app requests ${dangerous.join(', ')}.`,
        fix: 'Explain in the description why the app needs them, or request fewer scopes.',
        evidence,
      }
}

/**
 * Compares the scopes that the app requests with those of the tools that its test runs used. Test runs show only tools.
 * The agent's direct API calls leave no trace, so an unused scope is a question, not a fault.
 */
export const scopesUsed: SubmissionCheck = ({ app, testRuns }) => {
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
    return { status: 'skipped', message: 'The app has no test run to compare with.', evidence }
  }
  return dangerous.length === 0
    ? { status: 'passed', message: 'Test runs used every dangerous scope that the app requests.', evidence }
    : {
        status: 'warning',
        message: `No test run used ${dangerous.join(', ')}.`,
        fix: 'Make a test run that uses them, or request fewer scopes.',
        evidence,
      }
}
