import { type AskAgent, askAgent } from '../../calls/ask.ts'
import { type DelegateTask, delegateTask } from '../../calls/delegate.ts'
import type { Executor } from './executor.ts'

/** Waits up to 120 seconds for the answer. The target's run is committed before the wait. */
export const askAgentTool: Executor = async (work, scene, args) => ({
  result: await askAgent(work, scene, args as unknown as AskAgent & { tool: string }),
  writes: [],
})

export const delegateTaskTool: Executor = (work, scene, args) =>
  delegateTask(work, scene, args as unknown as DelegateTask)
