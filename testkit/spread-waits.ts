import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that wait for most of their time, or that take longer than their size suggests. The longest come first. */
const LONG = [
  'test/e2e/cli.test.ts',
  'test/e2e/guides.test.ts',
  'test/local/fresh-start.test.ts',
  'test/e2e/streams.test.ts',
  'test/e2e/alarms.test.ts',
  'test/e2e/sdk.test.ts',
  'test/e2e/faults.test.ts',
  'test/browser/budgets.test.ts',
  'test/browser/first-visit.test.ts',
  'test/local/sources.test.ts',
  'test/e2e/agents.test.ts',
  'test/e2e/live-updates.test.ts',
  'test/local/gateway.test.ts',

  'test/functions/developer/listen.test.ts',
  'test/shared/kernel/aws-calls.test.ts',
  'test/functions/workers/outside-sdk.test.ts',
  'test/faults/oauth.test.ts',
  'test/functions/admin/app-checks.test.ts',
  'test/functions/workers/inline-agents-provider.test.ts',
  'test/functions/api/run-stream.test.ts',
  'test/functions/mcp/calls.test.ts',
  'test/shared/adapters/telegram.test.ts',
  'test/functions/api/runs-wait.test.ts',
  'test/functions/mcp/server.test.ts',
  'test/attacks/host-documents.test.ts',
  'test/shared/adapters/outgoing-http/failures.test.ts',
  'test/functions/a2a/clients.test.ts',
  'test/cli/forward.test.ts',
]

const rank = ({ moduleId }: TestSpecification): number => LONG.findIndex((file) => moduleId.endsWith(`/${file}`))
const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder

/** Distributes long files evenly over the first half of the others. */
const spread = (files: readonly TestSpecification[]): TestSpecification[] => {
  const long = files.filter((file) => rank(file) >= 0).sort((a, b) => rank(a) - rank(b))
  const others = files.filter((file) => rank(file) < 0)
  const step = others.length / 2 / long.length
  const places = [...long.map((file, n) => ({ file, at: n * step })), ...others.map((file, n) => ({ file, at: n }))]
  return places.sort((a, b) => a.at - b.at).map(({ file }) => file)
}

/**
 * Keeps files that wait away from each other, so that other files use the cores meanwhile, and from the end, where each would
 * run alone. Vitest begins with the files that took longest, or with the largest ones if it has never run them.
 */
export class SpreadWaits extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const groups = Map.groupBy(await super.sort(files), groupOf)
    return [...groups].sort(([a], [b]) => a - b).flatMap(([, group]) => spread(group))
  }
}
