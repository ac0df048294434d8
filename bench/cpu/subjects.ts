import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { CounterEntity } from '#shared/foundation/claims/entity.ts'
import { refreshOf } from '#testkit/oauth.ts'
import { MCP_LIST, mcpRequest, workspaceOfAgents } from '../endpoints/mcp.ts'
import type { Stage } from '../endpoints/stage.ts'

/** Requests per block. Few enough that a block's effects can be undone before the next one. */
export const BLOCK = 25

/** Kind of request that can be sent repeatedly. */
export interface Subject {
  /** Returns the events of the next block. */
  events(): APIGatewayProxyEvent[]
  /** Undoes a block's changes in each of the two tables. Not measured. */
  after?(
    results: readonly APIGatewayProxyResult[],
    client: DynamoDBDocumentClient,
    tables: readonly string[],
  ): Promise<void>
}

export interface SubjectDefinition {
  /** Method and path of a declared endpoint. */
  endpoint: string
  variant?: string
  /** Limit in milliseconds, for a request that computes more than its commands to the store. Default: relative to the bare handler. */
  atMostMs?: number
  prepare(stage: Stage): Promise<Subject>
}

const event = (
  method: string,
  path: string,
  options: {
    token?: string
    body?: string
    contentType?: string
    query?: Record<string, string>
    headers?: Record<string, string>
  } = {},
): APIGatewayProxyEvent => {
  const headers: Record<string, string> = {
    accept: '*/*',
    host: 'platform.example',
    'user-agent': 'bench',
    'x-forwarded-for': '203.0.113.7',
    ...(options.token && { authorization: `Bearer ${options.token}` }),
    ...(options.body !== undefined && { 'content-type': options.contentType ?? 'application/json' }),
    ...options.headers,
  }
  return {
    httpMethod: method,
    path,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    multiValueQueryStringParameters: options.query
      ? Object.fromEntries(Object.entries(options.query).map(([name, value]) => [name, [value]]))
      : null,
    body: options.body ?? null,
    isBase64Encoded: false,
    requestContext: { identity: { sourceIp: '203.0.113.7' }, requestId: 'bench' },
  } as unknown as APIGatewayProxyEvent
}

const repeated = (one: APIGatewayProxyEvent): Subject => ({ events: () => Array.from({ length: BLOCK }, () => one) })
const count = async <T>(n: number, make: () => Promise<T>): Promise<T[]> => {
  const made: T[] = []
  for (let i = 0; i < n; i++) made.push(await make())
  return made
}

export const subjects: SubjectDefinition[] = [
  {
    endpoint: 'GET /api/v1/me',
    prepare: async (stage) => repeated(event('GET', '/api/v1/me', { token: (await stage.install()).token })),
  },
  {
    endpoint: 'GET /api/v1/runs',
    variant: '20 of them',
    async prepare(stage) {
      const app = await stage.install()
      await stage.finishedRuns(app, 21)
      return repeated(event('GET', '/api/v1/runs', { token: app.token, query: { limit: '20' } }))
    },
  },
  {
    endpoint: 'POST /api/v1/runs',
    async prepare(stage) {
      // An installation can have five active runs, so a block needs five installations.
      const apps = await count(5, () => stage.install())
      const body = JSON.stringify({ input: { name: 'Ada', question: 'How many are left?' }, trigger: 'bench' })
      return {
        events: () =>
          Array.from({ length: BLOCK }, (_, i) =>
            event('POST', '/api/v1/runs', { token: apps[i % 5]?.token ?? '', body }),
          ),
        async after(_, client, tables) {
          for (const TableName of tables) {
            for (const { installation } of apps) {
              const Key = CounterEntity.key({ owner: installation.id, counter: 'active_runs' })
              await client.send(
                new UpdateCommand({
                  TableName,
                  Key,
                  UpdateExpression: 'SET n = :zero',
                  ExpressionAttributeValues: { ':zero': 0 },
                }),
              )
            }
          }
        },
      }
    },
  },
  {
    endpoint: 'GET /console/runs',
    variant: '20 of them',
    async prepare(stage) {
      const app = await stage.install()
      await stage.finishedRuns(app, 21)
      return repeated(event('GET', '/console/runs', { token: app.person.token, query: { limit: '20' } }))
    },
  },
  {
    endpoint: 'POST /oauth/token',
    variant: 'a refresh token',
    async prepare(stage) {
      // One chain of tokens per request, because every refresh replaces the token.
      const chains = await count(BLOCK, async () => {
        const app = await stage.install()
        const { body } = await stage.token(await stage.exchangeForm(app))
        return { app, refreshToken: String(body.refresh_token) }
      })
      return {
        events: () =>
          chains.map(({ app, refreshToken }) =>
            event('POST', '/oauth/token', {
              body: new URLSearchParams(refreshOf(app, refreshToken)).toString(),
              contentType: 'application/x-www-form-urlencoded',
            }),
          ),
        async after(results) {
          for (const [i, { body }] of results.entries()) {
            const chain = chains[i]
            if (chain) chain.refreshToken = String(JSON.parse(body).refresh_token)
          }
        },
      }
    },
  },
  {
    endpoint: 'POST /mcp',
    variant: MCP_LIST,
    atMostMs: 50,
    async prepare(stage) {
      const { token } = await workspaceOfAgents(stage)
      const { headers, body } = mcpRequest('tools/list')
      const local = { ...headers, host: 'localhost' }
      return repeated(event('POST', '/mcp', { token, headers: local, body: JSON.stringify(body) }))
    },
  },
]
