import { TOOLS, type ToolName } from './catalogue.ts'
import { askAgentTool, delegateTaskTool } from './executors/agents.ts'
import { emitEvent } from './executors/events.ts'
import type { Executor } from './executors/executor.ts'
import { saveFile } from './executors/files.ts'
import { notifyUser } from './executors/notify.ts'
import { listRuns } from './executors/runs.ts'
import { askUser, createTask, myTasks } from './executors/tasks.ts'
import { workspaceInfo } from './executors/workspace.ts'

/** The tools that are executed at once. Those that need approval are executed by the approved-tools worker. */
export type ToolAtOnce = {
  [Name in ToolName]: (typeof TOOLS)[Name]['approval'] extends 'none' ? Name : never
}[ToolName]

export const isAtOnce = (name: ToolName): name is ToolAtOnce => TOOLS[name].approval === 'none'

export const EXECUTORS: Record<ToolAtOnce, Executor> = {
  workspace_info: workspaceInfo,
  list_runs: listRuns,
  notify_user: notifyUser,
  emit_event: emitEvent,
  create_task: createTask,
  delegate_task: delegateTaskTool,
  ask_agent: askAgentTool,
  my_tasks: myTasks,
  ask_user: askUser,
  save_file: saveFile,
}
