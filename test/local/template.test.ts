import { describe, expect, test } from 'vitest'
import type { Stack } from '#local/template/assembly.ts'
import { readRules, readSources } from '#local/template/events.ts'
import { createResolver } from '#local/template/resolve.ts'
import { readTemplate } from '#local/template.ts'
import { FIXTURE_BUNDLES, fixtureAssembly } from './support.ts'

const addresses = { aws: 'http://127.0.0.1:4000' }
const model = readTemplate({ cdkOut: await fixtureAssembly(), bundles: FIXTURE_BUNDLES, addresses })

const stackOf = (given: Partial<Stack>): Stack => ({
  name: 'S',
  resources: {},
  parameters: {},
  conditions: {},
  mappings: {},
  outputs: {},
  exports: [],
  assets: new Map(),
  ...given,
})

describe('functions', () => {
  const api = model.functions.find(({ name }) => name === 'api')

  test('run from the bundle folder that their metadata names', () => {
    expect(api?.directory).toBe(`${FIXTURE_BUNDLES}/api`)
    expect(api).toMatchObject({ handler: 'index.handler', timeoutSeconds: 3, memoryMb: 256 })
  })

  test('have resolved cross-stack references in their environment', () => {
    const [table] = model.tables
    const [bucket] = model.buckets
    const [secret] = model.secrets
    expect(api?.environment).toEqual({
      TABLE_NAME: table?.name,
      BUCKET_NAME: bucket?.name,
      KEYS_SECRET_ARN: secret?.arn,
      BASE_URL: model.api?.url,
      BUS_NAME: model.buses.at(-1),
      QUEUE_URL_WORK: expect.stringMatching(/^http:\/\/127\.0\.0\.1:4000\/000000000000\/Service-Work/),
    })
  })

  test('fall back to the staged asset where no bundle is built', async () => {
    const staged = readTemplate({ cdkOut: await fixtureAssembly(), addresses })
    expect(staged.functions.find(({ name }) => name === 'api')?.directory).toMatch(/asset\.[0-9a-f]{64}$/)
  })
})

test('the API has its resources as full paths, and knows which integrations stream', () => {
  const routes = model.api?.resources.map(({ path, methods }) => [path, [...methods.keys()]])
  expect(Object.fromEntries(routes ?? [])).toEqual({
    '/': ['GET', 'ANY'],
    '/{proxy+}': ['ANY'],
    '/v1': ['GET'],
    '/v1/things': [],
    '/v1/things/{id}': ['POST'],
    '/v1/live': ['POST'],
  })
  const live = model.api?.resources.find(({ path }) => path === '/v1/live')?.methods.get('POST')
  expect(live).toMatchObject({ streamed: true, functionArn: expect.stringContaining('function:Service-Streamed') })
  expect(model.api).toMatchObject({ stage: 'test', binaryMediaTypes: ['application/octet-stream'] })
  expect(model.api?.gatewayResponses.get('MISSING_AUTHENTICATION_TOKEN')?.statusCode).toBe(404)
})

test('event sources keep their filters and batch settings', () => {
  expect(model.streamSources).toMatchObject([
    {
      batchSize: 10,
      bisect: true,
      reportItemFailures: true,
      maxRetries: 2,
      fromStart: true,
      onFailureArn: expect.stringContaining('WorkDlq'),
      filters: [{ eventName: ['INSERT'], dynamodb: { NewImage: { _e: { S: ['outbox'] } } } }],
    },
  ])
  const later = model.queues.find(({ delaySeconds }) => delaySeconds === 30)
  expect(model.queueSources).toMatchObject([
    { batchSize: 5, maxConcurrency: 2, reportItemFailures: true },
    { batchSize: 10, queueArn: later?.arn, reportItemFailures: false },
  ])
  expect(model.schedules).toMatchObject([
    { everyMs: 60_000, targetArn: model.functions.find(({ name }) => name === 'sweep')?.arn },
    { everyMs: 60_000, targetArn: later?.arn },
  ])
})

test('queues have their dead-letter queue, and rules their targets', () => {
  const work = model.queues.find(({ redrive }) => redrive)
  expect(work).toMatchObject({ visibilitySeconds: 10, redrive: { maxReceives: 2 } })
  expect(model.queues.map(({ arn }) => arn)).toContain(work?.redrive?.targetArn)
  expect(model.rules).toMatchObject([
    {
      bus: model.buses.at(-1),
      pattern: { source: ['platform'], 'detail-type': ['run.created', 'run.failed'] },
      targets: [{ arn: work?.arn }],
    },
  ])
})

describe('the template is refused, and the error names the place,', () => {
  const resource = (type: string, name: string, properties: Record<string, unknown>) => {
    return { stack: 'S', logicalId: name, type, name, properties, metadata: {} }
  }
  const mapping = (source: string, ...patterns: string[]) => {
    const read = resource('AWS::Lambda::EventSourceMapping', 'It', {
      EventSourceArn: source,
      FunctionName: 'f',
      FilterCriteria: { Filters: patterns.map((Pattern) => ({ Pattern })) },
    })
    return () => readSources([resource('AWS::Lambda::Function', 'f', {}), read], (name) => name)
  }
  const STREAM = 'arn:aws:dynamodb:us-east-1:000000000000:table/t/stream/1'
  const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:q'
  const rule = (EventPattern: object) => () =>
    readRules([resource('AWS::Events::Rule', 'It', { EventPattern, Targets: [] })])

  test.each([
    ['for a pattern that AWS refuses', rule({ source: 'platform' }), 'The pattern of rule It is not valid'],
    [
      'for a pattern with an operator that only AWS has',
      rule({ a: [{ wildcard: '*' }] }),
      'doesn\'t support "wildcard"',
    ],
    ['for a pattern that is too long', rule({ a: ['x'.repeat(2_048)] }), 'AWS accepts 2048'],
    ['for a filter that isn’t JSON', mapping(STREAM, '{'), "A filter of It is not valid: it isn't JSON"],
    ['for a filter that AWS refuses', mapping(STREAM, '{"a":[]}'), 'A filter of It is not valid'],
    ['for too many filters', mapping(STREAM, ...Array<string>(6).fill('{"a":["x"]}')), 'AWS accepts 5'],
    ['for a filter of a queue', mapping(QUEUE, '{"body":["x"]}'), 'filters a queue'],
  ])('%s', (_name, reading, message) => {
    expect(reading).toThrow(message)
  })
})

describe('intrinsic functions', () => {
  const stack = stackOf({
    parameters: { Stage: { Default: 'x' } },
    conditions: { IsX: { 'Fn::Equals': [{ Ref: 'Stage' }, 'x'] }, NotX: { 'Fn::Not': [{ Condition: 'IsX' }] } },
    resources: {
      Q: { Type: 'AWS::SQS::Queue' },
      F: { Type: 'AWS::Lambda::Function' },
      V: { Type: 'AWS::Lambda::Version', Properties: { FunctionName: { Ref: 'F' } } },
      A: { Type: 'AWS::Lambda::Alias', Properties: { FunctionName: { Ref: 'F' }, Name: 'live' } },
    },
    mappings: { M: { a: { b: 'mapped' } } },
  })
  const other = stackOf({
    name: 'T',
    exports: [{ name: { 'Fn::Sub': `\${AWS::StackName}:Out` }, value: { Ref: 'Gone' } }],
  })
  const { resolve } = createResolver([stack, other], addresses)

  test.each([
    [{ 'Fn::Sub': `a-\${Stage}-\${Q.Arn}-\${!Kept}` }, `a-x-arn:aws:sqs:us-east-1:000000000000:S-Q-\${Kept}`],
    [{ 'Fn::Sub': [`\${V}/\${AWS::Region}`, { V: { Ref: 'Stage' } }] }, 'x/us-east-1'],
    [{ 'Fn::Select': ['1', { 'Fn::Split': ['/', 'a/b/c'] }] }, 'b'],
    [{ 'Fn::Join': [':', ['a', { Ref: 'AWS::AccountId' }]] }, 'a:000000000000'],
    [{ 'Fn::If': ['IsX', 'yes', 'no'] }, 'yes'],
    [{ 'Fn::If': ['NotX', 'yes', 'no'] }, 'no'],
    [{ 'Fn::FindInMap': ['M', 'a', 'b'] }, 'mapped'],
    [{ kept: 1, gone: { Ref: 'AWS::NoValue' } }, { kept: 1 }],
    [{ Ref: 'Q' }, 'http://127.0.0.1:4000/000000000000/S-Q'],
    [{ 'Fn::GetAtt': 'Q.QueueName' }, 'S-Q'],
    [{ Ref: 'A' }, 'arn:aws:lambda:us-east-1:000000000000:function:S-F:live'],
    [{ Ref: 'V' }, 'arn:aws:lambda:us-east-1:000000000000:function:S-F:1'],
    [{ 'Fn::GetAtt': ['V', 'Version'] }, '1'],
  ])('%j', (value, expected) => {
    expect(resolve(stack, value)).toEqual(expected)
  })

  test('a policy condition is not an intrinsic function', () => {
    const statement = { Condition: { StringEquals: { a: 'b' } } }
    expect(resolve(stack, statement)).toEqual(statement)
  })

  test.each([
    [{ Ref: 'Nobody' }, /S: unknown resource Nobody/],
    [{ 'Fn::ImportValue': 'missing' }, /S: no stack exports missing/],
    [{ 'Fn::GetStackOutput': { StackName: 'S', OutputName: 'N' } }, /S: the stack S has no output N/],
    [{ 'Fn::Transform': {} }, /does not support Fn::Transform/],
  ])('what does not exist is named: %j', (value, message) => {
    expect(() => resolve(stack, value)).toThrow(message)
  })
})

test('a folder without a template is an error that says what to do', () => {
  expect(() => readTemplate({ cdkOut: '/nonexistent', addresses })).toThrow(/Run the synth step first/)
})
