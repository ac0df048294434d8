import { TOOLS, type ToolName } from './catalogue.ts'
import { askAgentTool, delegateTaskTool } from './executors/agents.ts'
import { emitEventTool } from './executors/events.ts'
import type { Executor } from './executors/executor.ts'
import { saveFile } from './executors/files.ts'
import { notifyUser } from './executors/notify.ts'
import { listRuns } from './executors/runs.ts'
import { askUser, createTask, myTasks } from './executors/tasks.ts'
import { workspaceInfo } from './executors/workspace.ts'

/** Tools that are executed immediately. The approved-tools worker executes those that need approval. */
export type ImmediateTool = {
  [Name in ToolName]: (typeof TOOLS)[Name]['approval'] extends 'none' ? Name : never
}[ToolName]

export const isImmediate = (name: ToolName): name is ImmediateTool => TOOLS[name].approval === 'none'

export const EXECUTORS: Record<ImmediateTool, Executor> = {
  workspace_info: workspaceInfo,
  list_runs: listRuns,
  notify_user: notifyUser,
  emit_event: emitEventTool,
  create_task: createTask,
  delegate_task: delegateTaskTool,
  ask_agent: askAgentTool,
  my_tasks: myTasks,
  ask_user: askUser,
  save_file: saveFile,
}
