import { Annotation, Command, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph'
import { Agent, type Model, type RunContext, Runner, setTracingDisabled, tool, Usage } from '@openai/agents'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { Run } from '#packages/sdk-ts/index.ts'
import { langGraph } from '#packages/sdk-ts/langgraph.ts'
import { openAiAgents } from '#packages/sdk-ts/openai-agents.ts'

/** A run whose people answer each question with its text, and whose approvals are decided by `approves`. */
const runWith = (approves: (message: string) => boolean = () => true) => {
  const asked: { message: string; key: string | undefined }[] = []
  const run = {
    id: 'run_1',
    input: { text: 'Go' },
    call: undefined,
    signal: new AbortController().signal,
    step: async () => {},
    async ask(message: string, question?: { key?: string }) {
      asked.push({ message, key: question?.key })
      return { action: 'accept', content: { text: `${message} Yes.` } }
    },
    async approve(message: string, question?: { key?: string }) {
      asked.push({ message, key: question?.key })
      return approves(message)
    },
  }
  return { run: run as unknown as Run, asked }
}

const State = Annotation.Root({
  answers: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})
const graphOf = (
  ...nodes: ((state: unknown, config: { configurable?: Record<string, unknown> }) => Promise<object>)[]
) => {
  const graph = new StateGraph(State)
  for (const [n, node] of nodes.entries()) graph.addNode(`n${n}`, node).addEdge(START, `n${n}` as typeof START)
  return graph.compile({ checkpointer: new MemorySaver() })
}
const input = () => ({ answers: [] })

describe('a graph of LangGraph', () => {
  it('gets its own configuration, and the run as its thread', async () => {
    const graph = graphOf(async (_state, { configurable }) => ({
      answers: [`${configurable?.tenant} ${configurable?.thread_id}`],
    }))
    const config = { configurable: { tenant: 'acme', thread_id: 'mine' } }
    expect(await langGraph(graph, { input, config })(runWith().run)).toEqual({ answers: ['acme run_1'] })
  })

  it('that interrupts in parallel, in several nodes and twice in one, gets every answer where it belongs', async () => {
    const both = async () => {
      const [first, second] = await Promise.allSettled([
        (async () => interrupt('First?'))(),
        (async () => interrupt('Second?'))(),
      ])
      if (first?.status === 'rejected') throw first.reason
      if (second?.status === 'rejected') throw second.reason
      return { answers: [String(first?.value), String(second?.value)] }
    }
    const graph = graphOf(both, async () => ({ answers: [interrupt('Third?') as string] }))
    const { run, asked } = runWith()
    const { answers } = await langGraph(graph, { Command: Command as never, input })(run)
    expect((answers as string[]).sort()).toEqual(['First? Yes.', 'Second? Yes.', 'Third? Yes.'])
    expect(new Set(asked.map(({ key }) => key)).size).toBe(3)
  })

  it('whose parallel interrupts have one id asks one after the other', async () => {
    const interrupts = [
      [
        { id: 'same', value: 'A?' },
        { id: 'same', value: 'B?' },
      ],
      [{ id: 'same', value: 'B?' }],
      [],
    ]
    const resumed: unknown[] = []
    const graph = {
      async stream(given: unknown) {
        resumed.push((given as { resume?: unknown }).resume)
        const [now = []] = interrupts.splice(0, 1)
        return (async function* () {
          yield now.length > 0 ? ['updates', { __interrupt__: now }] : ['values', { done: true }]
        })()
      },
    }
    const { run, asked } = runWith()
    await langGraph(graph, { Command: Command as never, input })(run)
    expect(asked.map(({ message }) => message)).toEqual(['A?', 'B?'])
    expect(new Set(asked.map(({ key }) => key)).size).toBe(2)
    expect(resumed.slice(1)).toEqual([{ same: 'A? Yes.' }, 'B? Yes.'])
  })

  it('that goes on only with a yes fails with a code of its own after a no', async () => {
    const review = (allowedDecisions: string[]) =>
      graphOf(async () => {
        const value = {
          actionRequests: [{ name: 'pay', args: {} }],
          reviewConfigs: [{ actionName: 'pay', allowedDecisions }],
        }
        return { answers: [JSON.stringify(interrupt(value))] }
      })
    const options = { Command: Command as never, input }
    const { run } = runWith(() => false)
    expect(await langGraph(review(['approve', 'reject']), options)(run)).toEqual({
      answers: ['{"decisions":[{"type":"reject"}]}'],
    })
    await expect(langGraph(review(['approve', 'edit']), options)(run)).rejects.toMatchObject({ code: 'call_refused' })
  })
})

describe('an agent of the OpenAI Agents SDK', () => {
  it('keeps its context with the decisions in it when it goes on after an approval', async () => {
    setTracingDisabled(true)
    const contexts: unknown[] = []
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ amount: z.number() }),
      needsApproval: true,
      async execute(_input, context?: RunContext<unknown>) {
        contexts.push(context?.context)
        return 'Paid.'
      },
    })
    let calls = 0
    const model = {
      async getResponse() {
        const call = {
          type: 'function_call',
          callId: `call_${++calls}`,
          name: 'pay',
          arguments: '{"amount":1}',
          status: 'completed',
        }
        const done = {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Done.' }],
        }
        return { usage: new Usage(), output: [calls <= 2 ? call : done] }
      },
    } as unknown as Model
    const agent = new Agent({ name: 'Payer', instructions: 'Pay.', model, tools: [pay] })
    let made = 0
    const { run, asked } = runWith()
    const onRun = openAiAgents(agent, { Runner, context: () => ({ made: ++made }) })
    expect(await onRun(run)).toEqual({ text: 'Done.' })
    expect(contexts).toEqual([{ made: 1 }, { made: 1 }])
    expect(asked).toHaveLength(2)
  })
})
