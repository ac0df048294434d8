import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { dieAtEach } from '#test/faults/die-at-each.ts'
import { activeRuns, type Installed, installed } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { type Answer, json } from '#testkit/receiver.ts'
import { DEEP } from '#testkit/sampling.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { type Call, cardAt, installOutside, serve, task } from './outside-support.ts'

const platform = usingPlatform()
const agent = usingReceiver()
const elsewhere = usingReceiver()

type Behave = (call: Call) => Answer | { result: unknown } | { error: unknown }

const scene = async (behave: Behave, options?: Parameters<typeof installOutside>[2], card?: () => unknown) => {
  const calls = serve(agent, behave as Parameters<typeof serve>[1], card)
  const app = await installOutside(platform, agent.url, options)
  const start = async (input: unknown = { text: 'How many?' }) => {
    const { id } = await succeeded(platform.call('POST', '/api/v1/runs', { token: app.token, body: { input } }))
    await platform.drain()
    return id as string
  }
  const read = async (id: string) => (await platform.call('GET', `/api/v1/runs/${id}`, { token: app.token })).body
  return { app, calls, start, read }
}

/** Lets time pass, as the queue and the sweeper would see it. */
const pass = async (seconds: number, step = 10) => {
  for (let passed = 0; passed < seconds; passed += step) {
    platform.clock.advance(step * 1_000)
    await platform.sweep()
    await platform.drain()
  }
}

/** Shortens the deadlines of requests to agents, which pass in real time. @returns those that were asked for, and `restore` */
const impatiently = () => {
  const { http } = platform.deps
  const { send } = http
  const deadlines: number[] = []
  http.send = (request) => {
    deadlines.push(request.deadlineMs)
    return send({ ...request, deadlineMs: 100 })
  }
  return Object.assign(deadlines, {
    restore: () => {
      http.send = send
    },
  })
}

const sends = (calls: readonly Call[]) => calls.filter(({ method }) => method === 'SendMessage')

describe('a run of an outside A2A agent', () => {
  it('is one message with the run’s id and text, without a token of the platform, and its answer is the result', async () => {
    const { calls, start, read } = await scene(() => ({
      result: { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Twelve.' }] } },
    }))
    const id = await start()
    expect(await read(id)).toMatchObject({
      status: 'succeeded',
      output: { text: 'Twelve.', artifacts: [{ parts: [{ text: 'Twelve.' }] }] },
    })
    expect(calls).toHaveLength(1)
    expect(calls[0]).toMatchObject({
      method: 'SendMessage',
      params: {
        message: { messageId: id, role: 'ROLE_USER', parts: [{ text: 'How many?' }] },
        configuration: { returnImmediately: true },
      },
    })
    expect(calls[0]?.headers).toMatchObject({ 'a2a-version': '1.0' })
    const sent = JSON.stringify(calls)
    expect(sent).not.toMatch(/callback|authorization|x-svc|token|platform\.test/i)
  })

  it('is followed by reads until its task ends, and each new status is one step', async () => {
    const states = [
      task('SUBMITTED'),
      task('WORKING', 'Counting'),
      task('WORKING', 'Counting'),
      task('WORKING', 'Sure'),
    ]
    const ended = task('COMPLETED', undefined, {
      artifacts: [{ artifactId: 'a', name: 'Sum', parts: [{ text: '12' }] }],
    })
    const { calls, start, read } = await scene(({ method }) => {
      const state = states.shift() ?? ended
      return { result: method === 'SendMessage' ? { task: state } : state }
    })
    const id = await start()
    expect((await read(id)).status).toBe('running')
    await pass(70)
    expect(await read(id)).toMatchObject({
      status: 'succeeded',
      output: { text: '12', artifacts: [{ name: 'Sum', parts: [{ text: '12' }] }] },
      steps: [
        { type: 'message', output: { text: 'Counting' } },
        { type: 'message', output: { text: 'Sure' } },
      ],
    })
    expect(calls.map(({ method }) => method)).toEqual(['SendMessage', ...Array(4).fill('GetTask')])
    expect(calls[1]?.params).toEqual({ id: 'task-1', historyLength: 0 })
    await pass(300)
    expect(calls).toHaveLength(5)
  })

  it('asks a person what the agent asks, once, and sends the answer into the task', async () => {
    let state = task('INPUT_REQUIRED', 'Which warehouse?')
    const { app, calls, start, read } = await scene(({ method, params }) => {
      if (method === 'SendMessage' && params.message.taskId !== undefined) state = task('COMPLETED', 'Four.')
      return { result: method === 'SendMessage' ? { task: state } : state }
    })
    const id = await start()
    await pass(150)
    const asked = (await read(id)).steps.filter(({ type }: { type: string }) => type === 'input_request')
    expect(asked).toMatchObject([{ output: { input_requests: { question_1: { message: 'Which warehouse?' } } } }])
    const answered = await platform.call('POST', `/console/runs/${id}/input`, {
      token: app.person.token,
      body: { responses: { question_1: { action: 'accept', content: { text: 'North' } } } },
    })
    expect(answered.status).toBe(200)
    await platform.drain()
    expect(await read(id)).toMatchObject({ status: 'succeeded', output: { text: 'Four.' } })
    expect(sends(calls)).toMatchObject([
      { params: { message: { messageId: id } } },
      {
        params: {
          message: {
            messageId: `${id}-${asked[0].id}`,
            taskId: 'task-1',
            contextId: 'context-1',
            parts: [{ text: 'North' }],
          },
        },
      },
    ])
  })

  it('whose answer got lost on the way doesn’t ask again, and fails when the agent still asks after 10 minutes', async () => {
    const state = task('INPUT_REQUIRED', 'Which warehouse?')
    const { app, calls, start, read } = await scene(({ method, params }) => {
      if (method === 'SendMessage' && params.message.taskId !== undefined) return { kind: 'reset', when: 'before' }
      return { result: method === 'SendMessage' ? { task: state } : state }
    })
    const id = await start()
    await platform.call('POST', `/console/runs/${id}/input`, {
      token: app.person.token,
      body: { responses: { question_1: { action: 'accept', content: { text: 'North' } } } },
    })
    await pass(720, 30)
    expect(await read(id)).toMatchObject({ status: 'failed', error_code: 'agent_unreachable' })
    expect(sends(calls)).toHaveLength(2)
    expect(calls.at(-1)?.method).toBe('CancelTask')
  })

  it.each([
    ['FAILED', 'agent_failed'],
    ['REJECTED', 'rejected'],
    ['CANCELED', 'agent_cancelled'],
  ])('whose task is %s fails with %s and the agent’s words', async (state, error_code) => {
    const { start, read } = await scene(() => ({ result: { task: task(state, 'No stock.') } }))
    expect(await read(await start())).toMatchObject({ status: 'failed', error_code, error_message: 'No stock.' })
  })

  it.each<[string, Behave, string]>([
    ['redirects', () => ({ kind: 'redirect', location: `${elsewhere.url}/a2a` }), 'agent_unreachable'],
    ['answers 500', () => json({}, 500), 'agent_unreachable'],
    ['closes the connection', () => ({ kind: 'reset', when: 'before' }), 'agent_unreachable'],
    ['answers without JSON', () => ({ kind: 'answer', body: 'hm' }), 'agent_invalid_response'],
    ['answers endlessly', () => ({ kind: 'endless' }), 'agent_invalid_response'],
    ['inflates its answer', () => ({ kind: 'bomb', encoding: 'gzip', bytes: 50_000_000 }), 'agent_invalid_response'],
    ['names no known state', () => ({ result: { task: task('DREAMING') } }), 'agent_invalid_response'],
    ['names no task', () => ({ result: { task: { ...task('WORKING'), id: '..' } } }), 'agent_invalid_response'],
    ['refuses', () => ({ error: { code: -32_005, message: 'Incompatible content types' } }), 'agent_failed'],
  ])('that %s fails, and gets no second message', async (_what, behave, error_code) => {
    const { calls, start, read } = await scene(behave)
    const id = await start()
    await pass(120, 30)
    expect(await read(id)).toMatchObject({ status: 'failed', error_code })
    expect(calls).toHaveLength(1)
    expect(elsewhere.requests).toHaveLength(0)
  })

  it('that never answers the message fails after 30 seconds, and gets no second message', async () => {
    const { calls, start, read } = await scene(() => ({ kind: 'hang' }))
    const deadlines = impatiently()
    try {
      const id = await start()
      expect([...deadlines]).toEqual([30_000])
      await pass(120, 30)
      expect(await read(id)).toMatchObject({ status: 'failed', error_code: 'agent_unreachable' })
      expect(calls).toHaveLength(1)
    } finally {
      deadlines.restore()
    }
  })

  it.each<[string, () => Answer | { result: unknown }]>([
    ['never answers', () => ({ kind: 'hang' })],
    ['answers a byte a second', () => ({ kind: 'drip', everyMs: 1_000 })],
    ['redirects', () => ({ kind: 'redirect', location: `${elsewhere.url}/a2a` })],
  ])('whose agent %s when its task is read fails after 10 minutes, with one task there', async (_what, answer) => {
    elsewhere.requests.length = 0
    const { calls, start, read } = await scene(({ method }) =>
      method === 'SendMessage' ? { result: { task: task('WORKING') } } : answer(),
    )
    const deadlines = impatiently()
    try {
      const id = await start()
      await pass(540, 60)
      expect((await read(id)).status).toBe('running')
      await pass(180, 60)
      expect(await read(id)).toMatchObject({ status: 'failed', error_code: 'agent_unreachable', output: null })
      await pass(60)
      expect(sends(calls)).toHaveLength(1)
      expect(calls.filter(({ method }) => method === 'CancelTask')).toHaveLength(3)
      // One for the message, and 10 seconds for each look.
      expect(new Set(deadlines)).toEqual(new Set([30_000, 10_000]))
      expect(elsewhere.requests).toHaveLength(0)
    } finally {
      deadlines.restore()
    }
  })

  const large = task('WORKING', undefined, { artifacts: [{ parts: [{ text: 'x'.repeat(1_100_000) }] }] })
  const unstorable = task('WORKING', undefined, { artifacts: [{ parts: [{ text: '\u0000\ud800' }] }] })

  it.each([
    ['grows over 1 MiB', large, 'exceeds 1 MiB'],
    ['becomes unusable', unstorable, 'unusable'],
  ])('whose task %s is over at that read, and its task is cancelled', async (_what, grown, text) => {
    let reads = 0
    const { calls, start, read } = await scene(({ method }) => {
      if (method === 'SendMessage') return { result: { task: task('WORKING') } }
      if (method === 'CancelTask') return { result: task('CANCELED') }
      return { result: ++reads < 3 ? task('WORKING') : grown }
    })
    const id = await start()
    await pass(10)
    expect((await read(id)).status).toBe('running')
    await pass(30)
    const { status, error_code, error_message } = await read(id)
    expect([status, error_code]).toEqual(['failed', 'agent_invalid_response'])
    expect(error_message).toContain(text)
    await pass(60)
    expect(calls.map(({ method }) => method)).toEqual(['SendMessage', ...Array(3).fill('GetTask'), 'CancelTask'])
  })

  it('whose task has grown over 1 MiB when a question is answered is over, too', async () => {
    const { app, calls, start, read } = await scene(({ method, params }) => {
      if (method === 'SendMessage')
        return { result: { task: params.message.taskId === undefined ? task('INPUT_REQUIRED', 'Which one?') : large } }
      return { result: task(method === 'CancelTask' ? 'CANCELED' : 'INPUT_REQUIRED', 'Which one?') }
    })
    const id = await start()
    const body = { responses: { question_1: { action: 'accept', content: { text: 'That.' } } } }
    await succeeded(platform.call('POST', `/api/v1/runs/${id}/input`, { token: app.token, body }))
    await pass(30)
    expect(await read(id)).toMatchObject({ status: 'failed', error_code: 'agent_invalid_response' })
    expect(calls.at(-1)?.method).toBe('CancelTask')
  })

  it('is read by the rules of ProtoJSON: names of the schema, numbers of enums, null for what is unset', async () => {
    const parts = [{ text: '12', media_type: null, data: null }]
    const states: unknown[] = [
      {
        task: {
          id: 'task-1',
          context_id: 'c',
          status: { state: 2, message: { message_id: 'm', role: 2, parts } },
          artifacts: null,
        },
      },
      { id: 'task-1', status: { state: 3, message: null }, artifacts: [{ artifact_id: 'a', name: null, parts }] },
    ]
    const { start, read } = await scene(() => ({ result: states.shift() }))
    const id = await start()
    await pass(20)
    expect(await read(id)).toMatchObject({
      status: 'succeeded',
      output: { text: '12', artifacts: [{ parts: [{ text: '12' }] }] },
      steps: [{ type: 'message', output: { text: '12' } }],
    })
  })

  it('survives 9 minutes of failing reads, and fails after 10', async () => {
    let fails = true
    const { calls, start, read } = await scene(({ method }) => {
      if (method === 'SendMessage') return { result: { task: task('WORKING') } }
      return fails ? json({}, 503) : { result: { ...task('WORKING'), id: 'task-1' } }
    })
    const id = await start()
    await pass(540, 30)
    fails = false
    await pass(60, 30)
    expect((await read(id)).status).toBe('running')
    fails = true
    await pass(720, 30)
    expect(await read(id)).toMatchObject({ status: 'failed', error_code: 'agent_unreachable' })
    expect(sends(calls)).toHaveLength(1)
    // Three attempts to cancel, then nothing goes out anymore.
    const cancels = () => calls.filter(({ method }) => method === 'CancelTask').length
    await pass(120, 30)
    expect(cancels()).toBe(3)
    const before = calls.length
    await pass(300, 30)
    expect(calls).toHaveLength(before)
  })

  it('takes no result from another task than its own', async () => {
    const { start, read } = await scene(({ method }) => ({
      result:
        method === 'SendMessage' ? { task: task('WORKING') } : { ...task('COMPLETED', 'Not yours'), id: 'task-2' },
    }))
    const id = await start()
    await pass(60)
    expect((await read(id)).status).toBe('running')
    await pass(720, 30)
    expect(await read(id)).toMatchObject({ status: 'failed', error_code: 'agent_unreachable', output: null })
  })

  it('that a person cancels is cancelled there', async () => {
    const { calls, app, start, read } = await scene(({ method }) => ({
      result:
        method === 'SendMessage' ? { task: task('WORKING') } : task(method === 'CancelTask' ? 'CANCELED' : 'WORKING'),
    }))
    const id = await start()
    await platform.call('POST', `/console/runs/${id}/cancel`, { token: app.person.token })
    await pass(120)
    expect((await read(id)).status).toBe('cancelled')
    expect(calls.map(({ method }) => method)).toEqual(['SendMessage', 'CancelTask'])
  })

  it('goes to the interface of the published card, whatever the card says later', async () => {
    let card: unknown
    const calls = serve(
      agent,
      () => ({ result: { task: task('COMPLETED', 'Here.') } }),
      () => card ?? cardAt(agent.url),
    )
    const app = await installOutside(platform, agent.url)
    card = cardAt(elsewhere.url)
    await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input: { text: 'Where?' } } })
    await platform.drain()
    expect(calls).toHaveLength(1)
    expect(elsewhere.requests).toHaveLength(0)
  })

  it('that calls a declared tool, or names a skill, sends the skill and its arguments', async () => {
    const { calls, start } = await scene(() => ({ result: { task: task('COMPLETED', 'Done.') } }), {
      runtime: { skill: 'look' },
    })
    await start({ n: 1 })
    expect(calls[0]?.params.message.parts).toEqual([{ data: { skill: 'look', arguments: { n: 1 } } }])
  })
})

describe('an outside agent that offers push notifications', () => {
  const card = () => cardAt(agent.url, { capabilities: { pushNotifications: true } })

  const pushing = async (behave: Behave) => {
    const made = await scene(behave, {}, card)
    const place = () => sends(made.calls)[0]?.params.configuration.taskPushNotificationConfig
    const notify = (token: string = place().token) =>
      platform.call('POST', new URL(place().url).pathname, {
        body: { statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } },
        headers: { 'content-type': 'application/a2a+json', 'x-a2a-notification-token': token },
      })
    return { ...made, place, notify }
  }

  const reads = (calls: readonly Call[]) => calls.filter(({ method }) => method === 'GetTask').length

  it('gets an address and a token for its run, and its notification makes a worker read the task', async () => {
    let state = task('WORKING')
    const { calls, start, read, place, notify } = await pushing(({ method }) => ({
      result: method === 'SendMessage' ? { task: state } : state,
    }))
    const id = await start()
    expect(place()).toEqual({ url: `https://platform.test/a2a/push/${id}`, token: expect.stringMatching(/^.{40,}$/) })
    await pass(50)
    expect(reads(calls)).toBe(0)
    await pass(20)
    expect(reads(calls)).toBe(1)
    // Its message doesn't count: the task is still working.
    expect((await notify()).status).toBe(200)
    await pass(2, 1)
    expect([reads(calls), (await read(id)).status]).toEqual([2, 'running'])
    state = task('COMPLETED', 'Done.')
    await notify()
    await pass(2, 1)
    expect(await read(id)).toMatchObject({ status: 'succeeded', output: { text: 'Done.' } })
    expect((await notify()).status).toBe(200)
    await pass(2, 1)
    expect(reads(calls)).toBe(3)
  })

  it('that floods its address causes at most one read a second', async () => {
    const { calls, start, notify } = await pushing(({ method }) => ({
      result: method === 'SendMessage' ? { task: task('WORKING') } : task('WORKING'),
    }))
    await start()
    const before = reads(calls)
    for (let second = 0; second < 5; second++) {
      await Promise.all(Array.from({ length: 10 }, () => notify()))
      await pass(1, 1)
    }
    expect(reads(calls) - before).toBeLessThanOrEqual(5)
    expect(reads(calls) - before).toBeGreaterThan(1)
  })

  it('may notify before its answer to the message has arrived', async () => {
    let early: Promise<unknown> | undefined
    const { start, read } = await scene(
      ({ method, params }) => {
        if (method !== 'SendMessage') return { result: task('COMPLETED', 'Done.') }
        const { url, token } = params.configuration.taskPushNotificationConfig
        early = platform.call('POST', new URL(url).pathname, {
          body: {},
          headers: { 'x-a2a-notification-token': token },
        })
        return { result: { task: task('WORKING') } }
      },
      {},
      card,
    )
    const id = await start()
    expect(((await early) as { status: number }).status).toBe(200)
    await pass(5, 1)
    expect(await read(id)).toMatchObject({ status: 'succeeded' })
  })

  it('is refused without its run’s token, and learns nothing', async () => {
    const first = await pushing(() => ({ result: { task: task('WORKING') } }))
    await first.start()
    const { token } = first.place()
    const second = await pushing(() => ({ result: { task: task('WORKING') } }))
    await second.start()
    const refusals = [await second.notify(token), await second.notify('x')]
    const unknown = await platform.call('POST', '/a2a/push/run_01kae5m1v8w6c3x9q2r7t4y0zn', {
      body: {},
      headers: { 'x-a2a-notification-token': token },
    })
    for (const { status, body } of [...refusals, unknown])
      expect([status, body.error.code]).toEqual([401, 'unauthorized'])
    expect(second.calls).toHaveLength(1)
  })
})

describe('an outside agent that another agent asks', () => {
  const asked = async (behave: Behave) => {
    const asking = await installed(platform.deps)
    const { app, calls, read } = await scene(behave, { tools: ['look'], workspaceId: asking.workspaceId })
    let isAnswered = false
    const answer = platform
      .call('POST', '/api/v1/tools/ask_agent/invoke', {
        token: asking.token,
        body: { arguments: { agent: app.app.slug, tool: 'look', arguments: { n: 1 } } },
      })
      .finally(() => {
        isAnswered = true
      })
    while (!isAnswered) {
      await platform.drain()
      await pause(20)
    }
    return { ...(await answer), calls, read }
  }

  it('gets the declared tool as its skill, and its answer is untrusted', async () => {
    const { body, calls } = await asked(() => ({ result: { task: task('COMPLETED', 'Twelve.') } }))
    expect(body.result).toMatchObject({ status: 'succeeded', untrusted: true, output: { text: 'Twelve.' } })
    expect(calls[0]?.params.message.parts).toEqual([{ data: { skill: 'look', arguments: { n: 1 } } }])
  })

  it('can’t ask a person: the caller gets its question, and its task is cancelled', async () => {
    const { body, calls } = await asked(({ method }) => ({
      result: method === 'SendMessage' ? { task: task('INPUT_REQUIRED', 'Which?') } : task('CANCELED'),
    }))
    expect(body.result).toMatchObject({ status: 'failed', error_code: 'input_required', error_message: 'Which?' })
    await pass(30)
    expect(calls.map(({ method }) => method)).toEqual(['SendMessage', 'CancelTask'])
  })
})

describe('the credentials of an outside agent', () => {
  const config = {
    type: 'object',
    properties: { secret: { type: 'string', writeOnly: true }, client: { type: 'string' } },
  }
  const done: Behave = () => ({ result: { task: task('COMPLETED', 'Done.') } })

  const give = ({ installation, person }: Installed, values: Record<string, string>) => {
    const at = `/console/installations/${installation.id}/settings`
    return succeeded(platform.call('PUT', at, { token: person.token, body: { values } }))
  }

  it.each([
    [{ type: 'bearer', setting: 'secret' }, { authorization: 'Bearer s3cret' }],
    [{ type: 'api_key', setting: 'secret' }, { 'x-api-key': 's3cret' }],
    [{ type: 'api_key', setting: 'secret', header: 'Api-Token' }, { 'api-token': 's3cret' }],
  ])('%j go out in its header', async (auth, headers) => {
    const { app, calls, start, read } = await scene(done, { runtime: { auth }, config })
    await give(app, { secret: 's3cret' })
    expect((await read(await start())).status).toBe('succeeded')
    expect(calls[0]?.headers).toMatchObject(headers)
  })

  it('are a token of the token endpoint, asked for once while it lives', async () => {
    const auth = {
      type: 'client_credentials',
      setting: 'secret',
      client_id_setting: 'client',
      token_url: `${elsewhere.url}/token`,
      scope: 'run',
    }
    elsewhere.requests.length = 0
    elsewhere.answer(json({ access_token: 'tok_1', token_type: 'Bearer', expires_in: 3_600 }))
    const { app, calls, start, read } = await scene(done, { runtime: { auth }, config })
    await give(app, { secret: 's3cret', client: 'me' })
    expect((await read(await start())).status).toBe('succeeded')
    await start()
    expect(calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer tok_1', 'Bearer tok_1'])
    expect(elsewhere.requests).toHaveLength(1)
    expect(elsewhere.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:s3cret').toString('base64')}`)
    expect(elsewhere.requests[0]?.body.toString()).toBe('grant_type=client_credentials&scope=run')
  })

  it('that a workspace hasn’t set fail the run, and nothing goes out', async () => {
    const { calls, start, read } = await scene(done, {
      runtime: { auth: { type: 'bearer', setting: 'secret' } },
      config,
    })
    expect(await read(await start())).toMatchObject({ status: 'failed', error_code: 'invalid_config' })
    expect(calls).toHaveLength(0)
  })
})

describe('a worker that dies at any point of an outside run', () => {
  it('leaves at most one task there, and one result here', async () => {
    const deaths = {
      limit: DEEP ? 300 : 60,
      stride: 4,
      counted: DEEP ? 'calls' : 'effects',
      least: DEEP ? 5 : 1,
    } as const
    await dieAtEach(platform, deaths, async (n, dying) => {
      platform.clock.advance(7_200_000)
      let looks = 0
      let isDone = false
      const { app, calls, read } = await scene(({ method, params }) => {
        if (method === 'CancelTask') return { result: task('CANCELED') }
        if (method === 'SendMessage' && params.message.taskId !== undefined) isDone = true
        const state = isDone
          ? task('COMPLETED', 'Done.')
          : ++looks < 3
            ? task('WORKING', `Look ${looks}`)
            : task('INPUT_REQUIRED', 'Sure?')
        return { result: method === 'SendMessage' ? { task: state } : state }
      })
      const { body } = await platform.call('POST', '/api/v1/runs', {
        token: app.token,
        body: { input: { text: 'Go' } },
      })
      const id: string = body.id
      await platform.deps.bus.put(platform.outbox.splice(0))
      const failed: typeof platform.messages = []
      await dying(async (made) => {
        for (let i = 0; i < 8 && made() < n; i++) {
          const due = platform.messages.splice(0)
          for (const message of due) if (!(await platform.deliver(message))) failed.push(message)
          platform.clock.advance(10_000)
        }
      })
      // The queue delivers what wasn't handled again.
      platform.messages.push(...failed)
      for (let minute = 0; minute < 13; minute++) {
        await pass(60, 60)
        // Answers that were given, or that nobody asked for, are ignored.
        await platform.call('POST', `/console/runs/${id}/input`, {
          token: app.person.token,
          body: { responses: { question_1: { action: 'accept', content: { text: 'Yes' } } } },
        })
      }
      await pass(60, 60)
      const run = await read(id)
      expect(['succeeded', 'failed'], `killed after ${n}`).toContain(run.status)
      expect(sends(calls).filter(({ params }) => params.message.taskId === undefined).length).toBeLessThanOrEqual(1)
      expect(sends(calls).filter(({ params }) => params.message.taskId !== undefined).length).toBeLessThanOrEqual(1)
      const texts = run.steps.filter(({ type }: { type: string }) => type === 'message')
      expect(new Set(texts.map(({ output }: { output: { text: string } }) => output.text)).size).toBe(texts.length)
      expect(await activeRuns(platform.deps, app)).toBe(0)
    })
  })
})
