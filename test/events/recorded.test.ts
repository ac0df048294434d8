import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { type InvokeResult, type Platform, startPlatform } from '#local/platform.ts'
import { ROOT } from '#local/prepare.ts'
import { temporaryFolder } from '#test/e2e/support.ts'
import { ASSEMBLY } from '#testkit/assembly.ts'
import { sampleOf } from '#testkit/sampling.ts'
import { CASES, fileOf, type RecordedCase } from './cases.ts'
import { stable } from './stable.ts'

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')
const named = CASES.map((one): [string, RecordedCase] => [fileOf(one), one])

let platform: Platform
const place = temporaryFolder()
beforeAll(async () => {
  // Disables every source, so that only the recorded event has effects.
  platform = await startPlatform({ dataDir: place.folder, startSources: false, ...ASSEMBLY })
})
afterAll(async () => {
  await platform?.stop()
  place.remove()
})

interface Answer {
  statusCode: number
  body: string
}

/** Returns the answer of a request function, streamed or not. */
const answerOf = async (result: InvokeResult): Promise<Answer> => {
  if (result.kind === 'value') return result.value as Answer
  if (result.kind === 'error') throw new Error(result.error.errorMessage)
  const [head = '', body = ''] = (await buffer(result.body)).toString('utf8').split('\0'.repeat(8))
  return { ...JSON.parse(head), body }
}

/** The platform's error format, that of RFC 6749, and those of JSON-RPC and A2A. */
const codeOf = ({ body }: Answer): unknown => {
  const { jsonrpc, error } = JSON.parse(body)
  const details = jsonrpc === undefined ? error?.details : error.data
  // Errors of A2A have an ErrorInfo first.
  if (Array.isArray(details)) return details[0].reason.toLowerCase()
  // A JSON-RPC error of MCP carries the platform's as its data.
  return jsonrpc === undefined ? (error?.code ?? error) : details.code
}

const invoke = (one: RecordedCase): Promise<InvokeResult> => {
  const { logicalId } = platform.model.functions.find(({ name }) => name === one.function) ?? {}
  return platform.invoke(logicalId ?? one.function, JSON.parse(read(fileOf(one))))
}

describe('every recorded request gets the stated answer', () => {
  test.each(
    sampleOf(
      named.filter(([, { trigger }]) => trigger === 'api-gateway'),
      2,
    ),
  )('%s', async (_file, one) => {
    const answer = await answerOf(await invoke(one))
    expect(answer.statusCode, answer.body).toBe(one.answers?.status)
    if (one.answers?.code) expect(codeOf(answer)).toBe(one.answers.code)
  })
})

describe('every recorded batch is handled without failures', () => {
  test.each(named.filter(([, { trigger }]) => trigger === 'sqs' || trigger === 'dynamodb-stream'))(
    '%s',
    async (_file, one) => {
      expect(await invoke(one)).toMatchObject({ kind: 'value', value: { batchItemFailures: [] } })
    },
  )

  test('an invalid message is redelivered alone', async () => {
    const event = JSON.parse(read('events/sqs/fan-out.json'))
    event.Records[1].body = '{"detail-type":'
    expect(await platform.invoke('FanOutFunction', event)).toMatchObject({
      value: { batchItemFailures: [{ itemIdentifier: event.Records[1].messageId }] },
    })
  })
})

test.each(named.filter(([, { trigger }]) => trigger === 'websocket'))('%s is accepted', async (_file, one) => {
  expect(await invoke(one)).toMatchObject({ kind: 'value', value: { statusCode: 200 } })
})

test.each(named.filter(([, { trigger }]) => trigger === 'schedule'))('%s finds nothing overdue', async (_file, one) => {
  expect((await invoke(one)).kind).toBe('value')
})

describe('a recorded event exists', () => {
  test.each(Object.keys(requestFunctions))('for a request that %s serves, and for one that it refuses', (name) => {
    // Functions whose callers all need a token or an account's secret can't serve anyone without data.
    const open = requestFunctions[name]?.some(
      ({ caller, path }) => caller !== 'console' && caller !== 'admin' && path !== '/console/messenger/updates/{id}',
    )
    const statuses = CASES.filter((one) => one.function === name).map(({ answers }) => answers?.status ?? 0)
    expect(statuses.some((status) => status < 300)).toBe(open)
    expect(statuses.some((status) => status >= 400)).toBe(true)
  })

  const TRIGGERS = { queue: 'sqs', stream: 'dynamodb-stream', schedule: 'schedule', sockets: 'websocket' }
  test.each(
    Object.entries(workerFunctions).flatMap(([name, workers]) =>
      workers.map(({ source }): [string, string] => [name, TRIGGERS[source.kind]]),
    ),
  )('for %s, woken by %s', (name, trigger) => {
    const triggers = CASES.filter((one) => one.function === name).map((one) => one.trigger)
    expect(triggers, 'has no case in test/events/cases.ts').toContain(trigger)
  })

  test('in a file for each case, and in no other file', () => {
    const files = readdirSync(path.join(ROOT, 'events'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && path.basename(entry.parentPath) !== 'events')
      .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)))
    expect(files.sort()).toEqual(CASES.map(fileOf).sort())
  })

  test('in the list of the readme, with its function', () => {
    const readme = read('events/README.md')
    for (const one of CASES) {
      const { logicalId } = platform.model.functions.find(({ name }) => name === one.function) ?? {}
      expect(readme).toContain(`| \`${logicalId}\` | \`${one.trigger}/${one.name}.json\` |`)
    }
  })
})

describe('a recorded event', () => {
  test.each(named)('%s has stable ids, times and addresses', (file) => {
    const event = JSON.parse(read(file))
    expect(stable(event)).toEqual(event)
  })

  const SECRETS =
    /\beyJ[\w-]{10,}\.|\b(dvk|whsec|agsec|cs|join|rt|ac)_[\w+/=-]{20,}|bearer |x-developer-key|x-admin-key/i
  test.each(named)('%s carries no credential', (file) => {
    expect(read(file)).not.toMatch(SECRETS)
  })
})

test('sam.json has every variable that the SAM CLI cannot read from another stack', () => {
  const given = Object.keys(JSON.parse(read('events/sam.json')).Parameters)
  const imported = platform.model.functions.flatMap(({ environment }) =>
    Object.keys(environment).filter((name) => /^(TABLE_NAME|BUCKET_NAME|.*_SECRET_ARN)$/.test(name)),
  )
  expect(given).toEqual(expect.arrayContaining([...new Set(imported)]))
})

describe('the check of new versions (infra/rollout/check)', () => {
  const { EVENT, fault } = createRequire(import.meta.url)('../../infra/rollout/check/index.cjs') as {
    EVENT: object
    fault(answer: { functionError?: string; payload: string }): string | undefined
  }

  test.each([...Object.keys(requestFunctions), ...Object.keys(workerFunctions)])(
    'finds nothing wrong with %s, and its event does nothing there',
    async (name) => {
      const { logicalId = '' } = platform.model.functions.find((one) => one.name === name) ?? {}
      const result = await platform.invoke(logicalId, EVENT)
      if (result.kind === 'error') throw new Error(result.error.errorMessage)
      const payload =
        result.kind === 'stream' ? (await buffer(result.body)).toString('utf8') : JSON.stringify(result.value ?? null)
      expect(fault({ payload })).toBeUndefined()
      // A request without an endpoint and an empty batch. Only the schedules' functions do work.
      expect(payload).toMatch(/^\{"statusCode":404|^\{"batchItemFailures":\[\]\}$|^null$/)
    },
  )
})
