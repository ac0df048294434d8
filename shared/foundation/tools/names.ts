/** Names of the platform's tools, in catalogue order. */
export const TOOL_NAMES = [
  'workspace_info',
  'list_runs',
  'emit_event',
  'notify_user',
  'create_task',
  'delegate_task',
  'ask_agent',
  'my_tasks',
  'ask_user',
  'save_file',
  'http_fetch',
] as const
