import type { components } from './platform.d.ts'

export type ToolName = NonNullable<components['schemas']['InstallationPolicy']['denied_tools']>[number]

/** The platform's tools and their labels. */
const TOOLS: Record<ToolName, string> = {
  workspace_info: 'View workspace details',
  list_runs: 'List its own runs',
  notify_user: 'Send notifications',
  emit_event: 'Emit events',
  http_fetch: 'Fetch external URLs (each one needs approval)',
  create_task: 'Create tasks',
  delegate_task: 'Delegate tasks to other agents',
  ask_agent: 'Ask other agents questions',
  my_tasks: 'View its own tasks',
  ask_user: 'Ask people questions',
  save_file: 'Save files',
}

export const ToolTicks = ({
  legend,
  chosen,
  onChange,
}: {
  legend: string
  chosen: readonly string[]
  onChange: (tools: string[]) => void
}) => (
  <fieldset>
    <legend>{legend}</legend>
    <div class="ticks">
      {Object.entries(TOOLS).map(([name, words]) => (
        <label class="tick" key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(checked ? [...chosen, name] : chosen.filter((one) => one !== name))
            }
          />
          <span>
            {words} <code class="soft">{name}</code>
          </span>
        </label>
      ))}
    </div>
  </fieldset>
)
