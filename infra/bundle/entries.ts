import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { modulesOf } from '#functions/units.ts'
import { type CallerKind, callersOf } from '#shared/http/callers.ts'
import type { Capability } from '#shared/kernel/capabilities.ts'

/** Value that an entry point passes on under `name`, and the module that exports it. */
interface Part {
  name: string
  exported: string
  module: string
}

const authenticator = (name: CallerKind, exported: string = name): Part => ({
  name,
  exported,
  module: `#shared/http/authenticate/${name}.ts`,
})

const AUTHENTICATORS: Record<Exclude<CallerKind, 'none'>, Part> = {
  client: authenticator('client'),
  integration: authenticator('integration'),
  person: authenticator('person'),
  host: authenticator('host'),
  developer: authenticator('developer'),
  console: authenticator('console', 'consoleUser'),
  admin: authenticator('admin'),
}

const adapter = (name: string, exported: string, module: string): Part => ({
  name,
  exported,
  module: `#shared/adapters/${module}.ts`,
})

const FUNCTIONS = '#functions'

/** Adapters that are bundled only with functions that have the capability. */
const ADAPTERS: Partial<Record<Capability, Part>> = {
  outgoing: adapter('createHttp', 'createOutgoingHttp', 'outgoing-http/client'),
  bot: adapter('createBot', 'createTelegramBot', 'telegram'),
  model: adapter('createModel', 'createLanguageModel', 'language-model'),
  mail: adapter('createMail', 'createMail', 'ses'),
  sockets: adapter('createSockets', 'createSockets', 'sockets'),
  'metrics:read': adapter('createMonitoring', 'createMonitoring', 'monitoring'),
}

/** Sender of messages, for request functions. Workers always have it. */
const QUEUES = adapter('createQueues', 'createQueues', 'queues')

const adaptersFor = (needs: readonly Capability[]): Part[] =>
  [...new Set(needs)].flatMap((capability) => ADAPTERS[capability] ?? [])

const imports = (parts: readonly Part[]): string[] =>
  parts.map(({ exported, module }) => `import { ${exported} } from '${module}'`)

const object = (parts: readonly Part[]): string =>
  `{ ${parts.map(({ name, exported }) => `${name}: ${exported}, `).join('')}`

const entryOf = (unit: string, imported: string, lines: string[], handler: (modules: string[]) => string): string => {
  const modules = modulesOf(unit)
  return [
    ...lines,
    ...modules.map((path, i) => `import { ${imported} as m${i} } from '${FUNCTIONS}/${path}.ts'`),
    `export const handler = ${handler(modules.map((_, i) => `m${i}`))}`,
  ].join('\n')
}

/**
 * Generates the sources of the entry points, by function. They import the function's endpoints or workers and only the authenticators
 * and adapters that these declare, because each one adds to the bundle.
 */
export const entries = (): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(requestFunctions).map(([unit, endpoints]) => {
      const callers = [...new Set(endpoints.flatMap(callersOf))]
      const authenticators = callers.flatMap((caller) => (caller === 'none' ? [] : [AUTHENTICATORS[caller]]))
      const needs = endpoints.flatMap((endpoint) => endpoint.needs)
      const adapters = [...adaptersFor(needs), ...(needs.some((need) => need.startsWith('queue:')) ? [QUEUES] : [])]
      const lines = ["import { serve } from '#shared/http/serve.ts'", ...imports([...authenticators, ...adapters])]
      const parts = `${object(adapters)}authenticators: ${object(authenticators)}} }`
      return [
        unit,
        entryOf(
          unit,
          'endpoints',
          lines,
          (modules) => `serve([${modules.map((m) => `...${m}`).join(', ')}], ${parts})`,
        ),
      ]
    }),
  ),
  ...Object.fromEntries(
    Object.entries(workerFunctions).map(([unit, workers]) => {
      const adapters = adaptersFor(workers.flatMap(({ needs }) => needs))
      const lines = ["import { work } from '#shared/http/worker.ts'", ...imports(adapters)]
      return [unit, entryOf(unit, 'worker', lines, (modules) => `work([${modules.join(', ')}], ${object(adapters)}})`)]
    }),
  ),
})
