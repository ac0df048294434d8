import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { transactAndSend } from '#shared/foundation/queues/index.ts'
import type { Work } from '#shared/foundation/work/work.ts'
import { newId } from '#shared/kernel/ids.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { newTask } from '#shared/work/tasks/create.ts'
import { TaskEntity } from '#shared/work/tasks/entity.ts'
import { TASK_STATUSES, type TaskStatus } from '#shared/work/tasks/status.ts'
import { AGENT_MOVES } from '#shared/work/tasks/transitions.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { synchronizeReads, tasksOf } from './tasks-support.ts'

const platform = usingPlatform()
const agent = usingReceiver()
beforeEach(() => {
  // Refills every rate limit, and ends every chain.
  platform.clock.advance(3_600_000)
  agent.requests.length = 0
  agent.answer({ kind: 'answer', status: 202 })
})

/** Returns the last request that the agent received. */
const executed = () => JSON.parse(String(agent.requests.at(-1)?.body))

describe('a task', () => {
  it('is read by its agent with its conversation, oldest message first', async () => {
    const { task, asAgent, asPerson, installation, app, person } = await tasksOf(platform, agent)
    const { id, conversation_id } = await task({ description: 'All of it.' })
    await asAgent('POST', `/${id}/progress`, { text: 'Begun.', percent: 10 })
    platform.clock.advance(1_000)
    await asPerson('POST', `/${id}/messages`, { text: 'Good.' })
    const { status, body } = await asAgent('GET', `/${id}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id,
      title: 'Count the stock',
      description: 'All of it.',
      status: 'in_progress',
      audience: 'member',
      assignee: { installation_id: installation.id, agent: app.slug, name: app.name },
      created_by: { type: 'user', id: person.user.id, name: person.user.name },
      conversation_id,
      parent_run_id: null,
      chain_depth: 0,
      percent: 10,
      result: null,
    })
    expect(body.conversation.id).toBe(conversation_id)
    expect(body.conversation.messages).toMatchObject([
      { author: { type: 'agent', id: installation.id }, text: 'Begun.' },
      { author: { type: 'user', id: person.user.id }, text: 'Good.' },
    ])
  })

  it('shows its latest 50 messages', async () => {
    const { task, asAgent, asPerson } = await tasksOf(platform, agent)
    const { id } = await task()
    for (let n = 1; n <= 52; n++) {
      platform.clock.advance(1_000)
      await asPerson('POST', `/${id}/messages`, { text: `${n}` })
    }
    const { messages } = (await asAgent('GET', `/${id}`)).body.conversation
    expect(messages.map(({ text }: { text: string }) => text)).toEqual(
      Array.from({ length: 50 }, (_, i) => String(i + 3)),
    )
  })

  it('of another installation of the workspace, or of an unknown one, is not found by any endpoint and doesn’t change', async () => {
    const owner = await tasksOf(platform, agent)
    const other = await tasksOf(platform, agent, { workspaceId: owner.workspaceId })
    const { id } = await owner.task()
    const nobodys = await owner.task({ installation_id: undefined })
    for (const one of [id, nobodys.id, newId('task', platform.clock.now())]) {
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['POST', '/progress', { text: 'x' }],
        ['POST', '/question', { text: 'x' }],
        ['POST', '/report', { text: 'x' }],
        ['POST', '/status', { status: 'in_progress' }],
      ] as const) {
        expect((await other.asAgent(method, `/${one}${path}`, body)).body.error?.code, path).toBe('not_found')
      }
      const asked = await other.invoke('ask_user', { question: 'x', task_id: one })
      expect(asked.body.error.code).toBe('not_found')
    }
    expect(await owner.read(id)).toMatchObject({ status: 'todo', conversation: { messages: [] } })
    expect((await other.asAgent('GET', '')).body.items).toEqual([])
  })
})

describe('the list of tasks', () => {
  it('contains the tasks assigned to the caller, newest first, by status and in pages', async () => {
    const { task, asAgent, asPerson } = await tasksOf(platform, agent)
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      platform.clock.advance(1_000)
      ids.unshift((await task()).id)
    }
    await task({ installation_id: undefined })
    const [first, , third] = ids as [string, string, string]
    await asAgent('POST', `/${first}/status`, { status: 'in_progress' })
    await asAgent('POST', `/${third}/status`, { status: 'in_progress' })
    const list = async (query: string) => {
      const { body } = await asAgent('GET', `?${query}`)
      return { ids: body.items.map(({ id }: { id: string }) => id), next: body.next_cursor, more: body.has_more }
    }
    expect((await list('')).ids).toEqual(ids)
    expect((await list('status=in_progress')).ids).toEqual([first, third])
    expect((await list('status=done')).ids).toEqual([])
    for (const filter of ['', 'status=todo&']) {
      const page = await list(`${filter}limit=2`)
      const rest = await list(`${filter}limit=4&cursor=${encodeURIComponent(page.next)}`)
      expect([page.more, rest.more]).toEqual([true, false])
      expect([...page.ids, ...rest.ids]).toEqual((await list(filter)).ids)
    }
    await asPerson('PATCH', `/${first}`, { installation_id: null })
    expect(await list('limit=4')).toEqual({ ids: ids.slice(1), next: null, more: false })
    expect((await list('status=in_progress')).ids).toEqual([third])
  })
})

describe('progress', () => {
  it('moves a task out of todo, adds a message, and emits an event', async () => {
    const { task, asAgent, receivedEvents, read } = await tasksOf(platform, agent)
    const { id } = await task()
    expect((await asAgent('POST', `/${id}/progress`, { text: 'Half.', percent: 50 })).body).toMatchObject({
      status: 'in_progress',
      percent: 50,
    })
    expect((await read(id)).conversation.messages).toMatchObject([{ text: 'Half.' }])
    // Both are delivered concurrently, and a feed keeps the order of arrival.
    expect((await receivedEvents('task.*')).map(({ type, data }) => [type, data.task_id, data.status]).sort()).toEqual([
      ['task.created', id, 'todo'],
      ['task.updated', id, 'in_progress'],
    ])
  })

  it('keeps any other status', async () => {
    const { task, asAgent, asPerson } = await tasksOf(platform, agent)
    for (const status of ['discuss', 'review', 'done']) {
      const { id } = await task()
      await asPerson('PATCH', `/${id}`, { status })
      expect((await asAgent('POST', `/${id}/progress`, { text: 'Still.' })).body.status).toBe(status)
    }
  })

  it.each([
    ['an empty text', { text: '' }],
    ['a text of 4,001 characters', { text: 'x'.repeat(4_001) }],
    ['101 percent', { text: 'x', percent: 101 }],
    ['a negative percentage', { text: 'x', percent: -1 }],
    ['no text', {}],
  ])('refuses %s', async (_, body) => {
    const { task, asAgent } = await tasksOf(platform, agent)
    const { id } = await task()
    expect((await asAgent('POST', `/${id}/progress`, body)).body.error.code).toBe('validation_error')
  })
})

it('a percentage that underflows the table’s numbers is stored as 0', async () => {
  const { task, asAgent } = await tasksOf(platform, agent)
  const { id } = await task()
  const { status, body } = await asAgent('POST', `/${id}/progress`, { text: 'So far.', percent: 1e-200 })
  expect([status, body.percent]).toEqual([200, 0])
})

it('a list of tasks fits into a response, whatever characters their texts consist of', async () => {
  const { installation, workspaceId, person, asAgent, asPerson } = await tasksOf(platform, agent)
  const commit: Work['commit'] = (writes) => transactAndSend(platform.deps, writes)
  const id: Work['id'] = (kind) => newId(kind, platform.clock.now())
  const work: Work = { ...platform.deps, requestId: 'req_test', sourceIp: undefined, id, commit }
  for (let n = 0; n < 100; n++) {
    const { task, writes } = newTask(work, {
      workspace_id: workspaceId,
      title: 'Count',
      description: '\u0001'.repeat(8_000),
      audience: 'member',
      chain_depth: 0,
      created_by: { type: 'user', id: person.user.id, name: person.user.name },
      assignee: installation,
    })
    await commit(writes)
    await commit([TaskEntity.update(task, { set: { result: { text: '\u0001'.repeat(4_000), at: 1 } } })])
  }
  for (const list of [
    (query: string) => asAgent('GET', `?${query}`),
    (query: string) => asAgent('GET', `?status=todo&${query}`),
    (query: string) => asPerson('GET', `?${query}`),
  ]) {
    let seen = 0
    for (let cursor = ''; ; ) {
      const { body, text } = await list(`limit=100${cursor}`)
      // The function's response holds the body as JSON text in JSON, limited to 6 MB.
      expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThan(6 * 1_024 * 1_024)
      seen += body.items.length
      if (!body.has_more) break
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(seen).toBe(100)
  }
})

describe('a question', () => {
  it('moves the task to discuss and notifies the members', async () => {
    const { task, asAgent, receivedEvents, read } = await tasksOf(platform, agent)
    const { id } = await task()
    expect((await asAgent('POST', `/${id}/question`, { text: 'Which shelf?' })).body.status).toBe('discuss')
    expect((await read(id)).conversation.messages).toMatchObject([{ text: 'Which shelf?' }])
    expect(await receivedEvents('notification.*')).toMatchObject([{ data: { body: 'Which shelf?' } }])
  })

  it('resumes the task with its answer in a run that has the whole conversation', async () => {
    const { handed, asAgent, asPerson, finish, person, read } = await tasksOf(platform, agent)
    const { id, run_id } = await handed()
    await asAgent('POST', `/${id}/question`, { text: 'Which shelf?' })
    await finish(run_id)
    platform.clock.advance(1_000)
    const { status, body } = await asPerson('POST', `/${id}/messages`, { text: 'The upper one.' })
    expect([status, body.text]).toEqual([201, 'The upper one.'])
    expect((await read(id)).status).toBe('in_progress')
    await platform.drain()
    expect(agent.requests).toHaveLength(2)
    expect(executed()).toMatchObject({
      run: { trigger: 'task', input: { task_id: id, title: 'Count the stock' } },
      actor: { id: person.user.id },
      task: { id, status: 'in_progress' },
      conversation: { messages: [{ text: 'Which shelf?' }, { text: 'The upper one.' }] },
    })
  })

  it('starts no second run when it is answered while its run continues', async () => {
    const { handed, asAgent, asPerson, read, runs } = await tasksOf(platform, agent)
    const { id } = await handed()
    await asAgent('POST', `/${id}/question`, { text: 'Which shelf?' })
    await asPerson('POST', `/${id}/messages`, { text: 'The upper one.' })
    expect((await read(id)).status).toBe('in_progress')
    expect(await runs()).toHaveLength(1)
  })

  it('starts one run for two concurrent answers', async () => {
    const { task, asAgent, asPerson, runs, read } = await tasksOf(platform, agent)
    const { id } = await task()
    await asAgent('POST', `/${id}/question`, { text: 'Which shelf?' })
    const answers = await synchronizeReads(platform, 2, () =>
      Promise.all(['The upper one.', 'The lower one.'].map((text) => asPerson('POST', `/${id}/messages`, { text }))),
    )
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    expect(await runs()).toHaveLength(1)
    expect((await read(id)).conversation.messages).toHaveLength(3)
  })

  it('is answered without a run when no agent can resume the task', async () => {
    const { task, asAgent, asPerson, runs, read } = await tasksOf(platform, agent)
    const { id } = await task()
    await asAgent('POST', `/${id}/question`, { text: 'Which shelf?' })
    await asPerson('PATCH', `/${id}`, { installation_id: null })
    expect((await asPerson('POST', `/${id}/messages`, { text: 'The upper one.' })).status).toBe(201)
    expect((await read(id)).status).toBe('in_progress')
    expect(await runs()).toEqual([])
  })
})

describe('a report', () => {
  it('moves the task to review, never to done, and keeps its result', async () => {
    const { task, asAgent, receivedEvents, read } = await tasksOf(platform, agent)
    const { id } = await task()
    const output = { pieces: 40 }
    const { body } = await asAgent('POST', `/${id}/report`, { text: 'Counted.', output })
    expect(body).toMatchObject({ status: 'review', result: { text: 'Counted.', output } })
    expect(await read(id)).toMatchObject({ status: 'review', result: { text: 'Counted.', output } })
    expect(await receivedEvents('notification.*')).toMatchObject([{ data: { body: 'Counted.' } }])
    expect(await receivedEvents('task.result')).toEqual([])
  })

  it('replaces the previous report, even after done', async () => {
    const { task, asAgent, asPerson, read } = await tasksOf(platform, agent)
    const { id } = await task()
    await asAgent('POST', `/${id}/report`, { text: 'Counted.', output: { pieces: 40 } })
    await asPerson('PATCH', `/${id}`, { status: 'done' })
    platform.clock.advance(1_000)
    await asAgent('POST', `/${id}/report`, { text: 'Counted again.' })
    expect(await read(id)).toMatchObject({
      status: 'review',
      result: { text: 'Counted again.', output: null },
      conversation: { messages: [{ text: 'Counted.' }, { text: 'Counted again.' }] },
    })
  })

  it('keeps an output of up to 1 MiB whole, and refuses a larger one without changes', async () => {
    const { task, asAgent, read } = await tasksOf(platform, agent)
    const { id } = await task()
    const large = { rows: 'x'.repeat(1_048_000) }
    expect((await asAgent('POST', `/${id}/report`, { text: 'All.', output: large })).status).toBe(200)
    expect((await read(id)).result.output).toEqual(large)
    const { body } = await asAgent('POST', `/${id}/report`, { text: 'More.', output: { rows: 'x'.repeat(1_050_000) } })
    expect(body.error.code).toBe('payload_too_large')
    expect((await read(id)).result).toMatchObject({ text: 'All.', output: large })
  })

  it('posts two concurrent reports and keeps one of their results, whole', async () => {
    const { task, asAgent, read } = await tasksOf(platform, agent)
    const { id } = await task()
    const outputs = ['a', 'b'].map((letter) => ({ rows: letter.repeat(20_000) }))
    const answers = await synchronizeReads(platform, 2, () =>
      Promise.all(outputs.map((output, n) => asAgent('POST', `/${id}/report`, { text: `Report ${n}`, output }))),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    const { result, conversation } = await read(id)
    expect(result.output).toEqual(outputs[Number(result.text.slice(-1))])
    expect(conversation.messages.map(({ text }: { text: string }) => text).sort()).toEqual(['Report 0', 'Report 1'])
  })
})

it('a concurrent question, report and progress all take effect', async () => {
  const { task, asAgent, read } = await tasksOf(platform, agent)
  const { id } = await task()
  const answers = await synchronizeReads(platform, 3, () =>
    Promise.all([
      asAgent('POST', `/${id}/question`, { text: 'Q' }),
      asAgent('POST', `/${id}/report`, { text: 'R' }),
      asAgent('POST', `/${id}/progress`, { text: 'P', percent: 70 }),
    ]),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  const { status, percent, result, conversation } = await read(id)
  expect(['discuss', 'review']).toContain(status)
  expect([percent, result.text]).toEqual([70, 'R'])
  expect(conversation.messages.map(({ text }: { text: string }) => text).sort()).toEqual(['P', 'Q', 'R'])
})

describe('the status changes of an agent', () => {
  it('are a conflict naming the allowed ones when they are not allowed', async () => {
    const { task, asAgent } = await tasksOf(platform, agent)
    const { id } = await task()
    const { status, body } = await asAgent('POST', `/${id}/status`, { status: 'done' })
    expect([status, body.error.code]).toEqual([409, 'conflict'])
    expect(body.error.details).toEqual({ status: 'todo', allowed: ['in_progress'] })
    expect(body.error.fix).toContain('in_progress')
  })

  it('follow the transition table in any order of moves, and leave done to people', async () => {
    const world = await tasksOf(platform, agent)
    const status = fc.constantFrom(...TASK_STATUSES)
    const move = fc.oneof(
      fc.record({ by: fc.constant('status' as const), to: status }),
      fc.record({ by: fc.constantFrom('progress' as const, 'question' as const, 'report' as const) }),
      fc.record({ by: fc.constant('person' as const), to: status }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 8 }), async (moves) => {
        const { id } = await world.task()
        let expected: TaskStatus = 'todo'
        for (const one of moves) {
          platform.clock.advance(10_000)
          const allowed = one.by === 'status' ? AGENT_MOVES[expected].includes(one.to) : true
          const answer =
            one.by === 'status'
              ? await world.asAgent('POST', `/${id}/status`, { status: one.to })
              : one.by === 'person'
                ? await world.asPerson('PATCH', `/${id}`, { status: one.to })
                : await world.asAgent('POST', `/${id}/${one.by}`, { text: 'x' })
          expect(answer.status).toBe(allowed ? 200 : 409)
          if (allowed) {
            if (one.by === 'question') expected = 'discuss'
            else if (one.by === 'report') expected = 'review'
            else if (one.by === 'status' || one.by === 'person') expected = one.to
            else if (expected === 'todo') expected = 'in_progress'
            expect(one.by === 'person' || one.by === 'progress' || expected !== 'done').toBe(true)
          }
          expect((await world.asAgent('GET', `/${id}`)).body.status).toBe(expected)
          const { items } = (await world.asAgent('GET', `?status=${expected}`)).body
          expect(items.map((task: { id: string }) => task.id)).toContain(id)
        }
      }),
      { numRuns: 12 },
    )
  })
})

describe('with a run’s callback token', () => {
  it('a task is updated, which also counts as activity of the run', async () => {
    const { handed, read, installation } = await tasksOf(platform, agent)
    const { id, run_id, token } = await handed()
    platform.clock.advance(10 * 60_000)
    const said = await platform.call('POST', `/api/v1/tasks/${id}/progress`, { token, body: { text: 'Half.' } })
    expect(said.status).toBe(200)
    expect((await read(id)).conversation.messages).toMatchObject([{ run_id }])
    const run = await platform.deps.table.get(RunEntity, { installation_id: installation.id, id: run_id })
    expect(run?.alive_at).toBe(platform.clock.now())
  })

  it('a task is not changed when the run ends concurrently', async () => {
    const { handed, finish, read } = await tasksOf(platform, agent)
    const { id, run_id, token } = await handed()
    const body = { text: 'Half.' }
    const say = () => platform.call('POST', `/api/v1/tasks/${id}/progress`, { token, body })
    const { error } = (await synchronizeReads(platform, 1, say, () => finish(run_id))).body
    expect(error.code).toBe('run_already_finished')
    expect((await read(id)).status).toBe('todo')
  })

  it('a task is not changed after the run’s end', async () => {
    const { handed, finish, read } = await tasksOf(platform, agent)
    const { id, run_id, token } = await handed()
    await finish(run_id)
    const { body } = await platform.call('POST', `/api/v1/tasks/${id}/report`, { token, body: { text: 'Late.' } })
    expect(body.error.code).toBe('run_already_finished')
    expect((await read(id)).status).toBe('todo')
  })
})

describe('POST /console/tasks/{id}/run', () => {
  it('starts the agent with the task, once while it works', async () => {
    const { task, asPerson, person } = await tasksOf(platform, agent)
    const { id } = await task({ description: 'All of it.' })
    const both = await synchronizeReads(platform, 2, () =>
      Promise.all([1, 2].map(() => asPerson('POST', `/${id}/run`, {}))),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    const { run_id } = both.find(({ status }) => status === 200)?.body ?? {}
    expect(both.find(({ status }) => status === 409)?.body.error).toMatchObject({
      code: 'conflict',
      details: { run_id },
    })
    await platform.drain()
    expect(agent.requests).toHaveLength(1)
    expect(executed()).toMatchObject({
      run: { id: run_id, trigger: 'task', input: { task_id: id, description: 'All of it.' } },
      actor: { id: person.user.id },
      caller: null,
      chain: { depth: 0 },
      task: { id, status: 'todo' },
    })
  })

  it('assigns the task to the named agent, and hides it from the previous one', async () => {
    const first = await tasksOf(platform, agent)
    const second = await tasksOf(platform, agent, { workspaceId: first.workspaceId })
    const { id, conversation_id } = await first.task()
    const { status, body } = await first.asPerson('POST', `/${id}/run`, { installation_id: second.installation.id })
    expect([status, body.assignee.installation_id]).toEqual([200, second.installation.id])
    expect((await first.asAgent('GET', `/${id}`)).status).toBe(404)
    expect((await first.asAgent('GET', '')).body.items).toEqual([])
    expect((await second.asAgent('GET', '')).body.items).toHaveLength(1)
    expect((await first.receivedEvents('task.updated')).at(-1)?.data).toMatchObject({ task_id: id, assigned: false })
    expect((await second.receivedEvents('task.created')).at(-1)?.data).toMatchObject({ task_id: id, conversation_id })
  })

  it('refuses a task without an agent, or an agent that can’t take tasks', async () => {
    const { task, asPerson, workspaceId } = await tasksOf(platform, agent)
    const poor = await tasksOf(platform, agent, { workspaceId, scopes: ['runs:write'] })
    const { id } = await task({ installation_id: undefined })
    const codes = async (body: object) => (await asPerson('POST', `/${id}/run`, body)).body.error.code
    expect(await codes({})).toBe('validation_error')
    expect(await codes({ installation_id: poor.installation.id })).toBe('agent_cannot_take_tasks')
    const foreign = await tasksOf(platform, agent)
    expect(await codes({ installation_id: foreign.installation.id })).toBe('not_found')
    expect(await codes({ installation_id: 'ins_../x' })).toBe('not_found')
  })
})

describe('a task reassigned to another agent', () => {
  const handedOver = async () => {
    const first = await tasksOf(platform, agent)
    const second = await tasksOf(platform, agent, { workspaceId: first.workspaceId })
    const { id } = await first.task()
    return { first, second, id }
  }

  it('is hidden from runs of the previous agent, including later messages', async () => {
    const { first, second, id } = await handedOver()
    await first.asPerson('POST', `/${id}/run`, {})
    await first.asPerson('PATCH', `/${id}`, { installation_id: second.installation.id, title: 'Not for you' })
    await first.asPerson('POST', `/${id}/messages`, { text: 'Between us.' })
    await platform.drain()
    const { run, task, conversation } = executed()
    expect(run.input).toMatchObject({ task_id: id, title: 'Count the stock' })
    expect([task, conversation]).toEqual([undefined, undefined])
  })

  it('starts no second run when it returns while a run of the first agent continues', async () => {
    const { first, second, id } = await handedOver()
    const run = async (installation_id: string) =>
      (await first.asPerson('POST', `/${id}/run`, { installation_id })).body
    const { run_id } = await run(first.installation.id)
    expect((await run(second.installation.id)).run_id).toBeDefined()
    expect((await run(first.installation.id)).error).toMatchObject({ code: 'conflict', details: { run_id } })
  })

  it('is reported to the previous agent in its last state', async () => {
    const { first, second, id } = await handedOver()
    await first.asPerson('PATCH', `/${id}`, { installation_id: second.installation.id, title: 'Not for you' })
    expect((await first.receivedEvents('task.updated')).at(-1)?.data).toMatchObject({
      task_id: id,
      title: 'Count the stock',
      assigned: false,
    })
    expect((await second.receivedEvents('task.created')).at(-1)?.data).toMatchObject({
      task_id: id,
      title: 'Not for you',
    })
  })
})

describe('PATCH /console/tasks/{id}', () => {
  it('changes only the given fields, notifies the agent, and renames its conversation', async () => {
    const { task, asPerson, read, receivedEvents, token } = await tasksOf(platform, agent)
    const { id, conversation_id } = await task({ description: 'All of it.' })
    const { body } = await asPerson('PATCH', `/${id}`, { title: 'Count twice' })
    expect(body).toMatchObject({ title: 'Count twice', description: 'All of it.', status: 'todo' })
    expect(body.assignee).not.toBeNull()
    expect(await read(id)).toMatchObject({ title: 'Count twice', description: 'All of it.' })
    expect((await receivedEvents('task.updated')).at(-1)?.data).toMatchObject({
      task_id: id,
      title: 'Count twice',
      assigned: true,
    })
    const conversations = (await platform.call('GET', '/api/v1/conversations', { token })).body.items
    expect(conversations).toMatchObject([{ id: conversation_id, title: 'Count twice' }])
  })

  it('moves the conversation with its messages to the new agent', async () => {
    const first = await tasksOf(platform, agent)
    const second = await tasksOf(platform, agent, { workspaceId: first.workspaceId })
    const { id, conversation_id } = await first.task()
    await first.asAgent('POST', `/${id}/progress`, { text: 'Half.' })
    await first.asPerson('PATCH', `/${id}`, { installation_id: second.installation.id })
    const messages = ({ token }: { token: string }) =>
      platform.call('GET', `/api/v1/conversations/${conversation_id}/messages`, { token })
    expect((await messages(first)).status).toBe(404)
    expect((await messages(second)).body.items).toMatchObject([{ text: 'Half.' }])
    const conversations = async ({ token }: { token: string }) =>
      (await platform.call('GET', '/api/v1/conversations', { token })).body.items
    expect(await conversations(first)).toEqual([])
    expect(await conversations(second)).toHaveLength(1)
  })

  it('refuses an agent that may not read tasks, or whose workspace denies that', async () => {
    const { task, asPerson, person, installation, read } = await tasksOf(platform, agent)
    const { id } = await task({ installation_id: undefined })
    const bans = { denied_tools: [], denied_scopes: ['tasks:read'] }
    await platform.call('PUT', '/console/settings/bans', { token: person.token, body: bans })
    const { status, body } = await asPerson('PATCH', `/${id}`, { installation_id: installation.id })
    expect([status, body.error.code]).toEqual([409, 'agent_cannot_take_tasks'])
    expect((await read(id)).assignee).toBeNull()
  })

  it.each([
    ['an unknown status', { status: 'later' }],
    ['no title', { title: ' ' }],
    ['an audience', { audience: 'member' }],
  ])('refuses %s', async (_, fields) => {
    const { task, asPerson } = await tasksOf(platform, agent)
    const { id } = await task()
    expect((await asPerson('PATCH', `/${id}`, fields)).body.error.code).toBe('validation_error')
  })
})

describe('create_task', () => {
  it('creates a task of the caller’s own in its chain, and starts nothing', async () => {
    const { handed, invoke, runs, asAgent } = await tasksOf(platform, agent)
    const { run_id, token } = await handed()
    const { body } = await invoke('create_task', { title: 'Look at shelf 3' }, { token })
    expect(body).toMatchObject({ status: 'ok', result: { status: 'todo', audience: 'member', chain_depth: 0 } })
    expect((await asAgent('GET', `/${body.result.task_id}`)).body).toMatchObject({
      title: 'Look at shelf 3',
      description: '',
      created_by: { type: 'agent' },
      parent_run_id: run_id,
    })
    expect(await runs()).toHaveLength(1)
  })

  it('keeps the depth and the audience of the run it is called in', async () => {
    const { invoke, runs, asPerson, asAgent, deepRun } = await tasksOf(platform, agent)
    await deepRun({ chain_depth: 2, audience: 'external' })
    platform.clock.advance(1_000)
    const { body } = await invoke('create_task', { title: 'Look' })
    expect(body.result).toMatchObject({ audience: 'external', chain_depth: 2 })
    await asPerson('POST', `/${body.result.task_id}/run`, {})
    await platform.drain()
    expect(executed()).toMatchObject({ audience: 'external', chain: { depth: 2 } })
    expect((await asAgent('GET', `/${body.result.task_id}`)).body.chain_depth).toBe(2)
    expect((await runs()).at(0).chain_depth).toBe(2)
  })

  it.each([
    ['a title of 301 characters', { title: 'x'.repeat(301) }, 'title'],
    ['an empty title', { title: '' }, 'title'],
    ['a description of 8,001 characters', { title: 'x', description: 'x'.repeat(8_001) }, 'description'],
    ['another agent', { title: 'x', agent: 'another' }, 'agent'],
    ['another assignee', { title: 'x', assignee: 'another' }, 'assignee'],
  ])('refuses %s', async (_, args, field) => {
    const { invoke } = await tasksOf(platform, agent)
    const { body } = await invoke('create_task', args)
    expect(body.error.code).toBe('validation_error')
    expect(Object.keys(body.error.details.fields)).toEqual([`arguments.${field}`])
  })
})

describe('my_tasks', () => {
  it('lists the tasks assigned to the caller, by status', async () => {
    const { task, invoke, asAgent } = await tasksOf(platform, agent)
    const first = await task()
    platform.clock.advance(1_000)
    const second = await task()
    await asAgent('POST', `/${first.id}/status`, { status: 'in_progress' })
    const ids = async (args: object) =>
      (await invoke('my_tasks', args)).body.result.tasks.map(({ id }: { id: string }) => id)
    expect(await ids({})).toEqual([second.id, first.id])
    expect(await ids({ status: 'in_progress' })).toEqual([first.id])
    expect(await ids({ limit: 1 })).toEqual([second.id])
  })
})

describe('ask_user', () => {
  it('with a task adds its question', async () => {
    const { handed, invoke, read, receivedEvents } = await tasksOf(platform, agent)
    const { id, run_id, token } = await handed()
    const { body } = await invoke('ask_user', { question: 'Which shelf?', task_id: id }, { token })
    expect(body).toEqual({ status: 'ok', result: { asked: true, task_id: id } })
    expect(await read(id)).toMatchObject({
      status: 'discuss',
      conversation: { messages: [{ text: 'Which shelf?', run_id }] },
    })
    expect(await receivedEvents('notification.*')).toHaveLength(1)
  })

  it('without a task notifies the members', async () => {
    const { invoke, receivedEvents } = await tasksOf(platform, agent)
    expect((await invoke('ask_user', { question: 'Open today?' })).body.result).toEqual({ asked: true, task_id: null })
    expect(await receivedEvents('notification.*')).toMatchObject([{ data: { body: 'Open today?' } }])
  })

  it('and a concurrent report both take effect', async () => {
    const { handed, invoke, asAgent, read } = await tasksOf(platform, agent)
    const { id, token } = await handed()
    const answers = await synchronizeReads(platform, 3, () =>
      Promise.all([
        invoke('ask_user', { question: 'Q', task_id: id }, { token }),
        asAgent('POST', `/${id}/report`, { text: 'R' }),
        invoke('ask_user', { question: 'S', task_id: id }, { token }),
      ]),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const { result, conversation } = await read(id)
    expect(result.text).toBe('R')
    expect(conversation.messages.map(({ text }: { text: string }) => text).sort()).toEqual(['Q', 'R', 'S'])
  })
})

describe('a tool call', () => {
  it('with a callback token reads its run once, during authentication', async () => {
    const { handed, invoke } = await tasksOf(platform, agent)
    const { token } = await handed()
    const { get } = platform.deps.table
    const read: string[] = []
    platform.deps.table.get = ((entity: { name: string }, ...rest: unknown[]) => {
      read.push(entity.name)
      return (get as (...args: unknown[]) => unknown).call(platform.deps.table, entity, ...rest)
    }) as typeof get
    try {
      expect((await invoke('emit_event', { type: 'a.b' }, { token })).status).toBe(200)
    } finally {
      platform.deps.table.get = get
    }
    expect(read).not.toContain('run')
  })

  it('is not found when it names an unknown run, or one other than its token’s', async () => {
    const { handed, invoke } = await tasksOf(platform, agent)
    const one = await handed()
    const other = await handed()
    for (const more of [{ token: one.token, run_id: other.run_id }, { run_id: newId('run', platform.clock.now()) }]) {
      expect((await invoke('emit_event', { type: 'a.b' }, more)).body.error.code).toBe('not_found')
    }
    expect((await invoke('emit_event', { type: 'a.b' }, { run_id: one.run_id })).status).toBe(200)
  })
})

describe('a delegated task without an active run', () => {
  /** Creates an assignee with a task, and the agent that delegated it. */
  const given = async (audience: 'member' | 'external') => {
    const asking = await tasksOf(platform, agent)
    const asked = await tasksOf(platform, agent, { workspaceId: asking.workspaceId })
    const args = { agent: asked.app.slug, title: 'Count', start_now: false, audience }
    const { body } = await asking.invoke('delegate_task', args)
    return { asking, asked, id: body.result.task_id as string }
  }

  it('passes its depth and external audience on to its agent’s next calls', async () => {
    const { asking, asked } = await given('external')
    const back = { agent: asking.app.slug, title: 'Count yourself', start_now: false }
    expect((await asked.invoke('delegate_task', back)).body.result.chain_depth).toBe(2)
    const { items } = (await asking.asAgent('GET', '')).body
    expect(items).toMatchObject([{ audience: 'external', chain_depth: 2 }])
  })

  it('does so however late its agent works on it', async () => {
    const { asking, asked, id } = await given('member')
    platform.clock.advance(600_000)
    const create = async () => (await asked.invoke('create_task', { title: 'Look' })).body.result.chain_depth
    expect(await create()).toBe(0)
    await asked.asAgent('POST', `/${id}/progress`, { text: 'Begun.' })
    expect(await create()).toBe(1)
    const back = { agent: asking.app.slug, title: 'Count yourself', start_now: false }
    expect((await asked.invoke('delegate_task', back)).body.result.chain_depth).toBe(2)
  })

  it('ends the chain when it is passed back and forth', async () => {
    const { asking, asked } = await given('member')
    const pass = (from: typeof asked, to: typeof asking) =>
      from.invoke('delegate_task', { agent: to.app.slug, title: 'Yours', start_now: false })
    expect((await pass(asked, asking)).body.result.chain_depth).toBe(2)
    expect((await pass(asking, asked)).body.result.chain_depth).toBe(3)
    expect((await pass(asked, asking)).body.error.code).toBe('chain_too_deep')
  })

  it('can be read by the delegating agent and no other, and changed by its assignee only', async () => {
    const { asking, asked, id } = await given('member')
    const third = await tasksOf(platform, agent, { workspaceId: asking.workspaceId })
    expect((await asking.asAgent('GET', `/${id}`)).body).toMatchObject({ id, conversation: { messages: [] } })
    expect((await asking.asAgent('GET', '')).body.items).toEqual([])
    expect((await asking.asAgent('POST', `/${id}/report`, { text: 'x' })).status).toBe(404)
    expect((await third.asAgent('GET', `/${id}`)).status).toBe(404)
    expect((await asked.asAgent('GET', `/${id}`)).status).toBe(200)
  })

  it('returns its result shortened in the event, and whole when the task is read', async () => {
    const { asking, asked, id } = await given('member')
    const output = { rows: 'x'.repeat(20_000) }
    await asked.asAgent('POST', `/${id}/report`, { text: 'Counted.', output })
    const [event] = await asking.receivedEvents('task.result')
    expect(event?.data).toMatchObject({
      task_id: id,
      status: 'review',
      text: 'Counted.',
      output: { truncated: true },
    })
    expect(event?.data.output.text).toHaveLength(16_000)
    expect((await asking.asAgent('GET', `/${id}`)).body.result.output).toEqual(output)
    expect(await asked.receivedEvents('task.result')).toEqual([])
  })
})

it('the result of a delegated task is posted to the conversation of the asking run', async () => {
  const asking = await tasksOf(platform, agent)
  const asked = await tasksOf(platform, agent, { workspaceId: asking.workspaceId })
  const { id, token } = await asking.handed()
  const { body } = await asking.invoke('delegate_task', { agent: asked.app.slug, title: 'Count' }, { token })
  await asked.asAgent('POST', `/${body.result.task_id}/report`, { text: 'Counted.' })
  expect((await asking.read(id)).conversation.messages).toMatchObject([
    { author: { type: 'agent', id: asked.installation.id }, text: 'Counted.' },
  ])
})
