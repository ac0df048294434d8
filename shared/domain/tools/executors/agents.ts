import { type AskAgent, askAgent } from '../../agents/ask.ts'
import { type DelegateTask, delegateTask } from '../../agents/delegate.ts'
import type { Executor } from './executor.ts'

/** Waits for the answer, up to 120 seconds; the run that gives it is started before. */
export const askAgentTool: Executor = async (work, scene, args) => ({
  result: await askAgent(work, scene, args as unknown as AskAgent),
  writes: [],
})

export const delegateTaskTool: Executor = (work, scene, args) =>
  delegateTask(work, scene, args as unknown as DelegateTask)
