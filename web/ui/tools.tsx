import { t } from './messages.ts'
import type { components } from './platform.d.ts'

export type ToolName = NonNullable<components['schemas']['InstallationPolicy']['denied_tools']>[number]

/** The platform's tools and their labels. */
const TOOLS: Record<ToolName, string> = {
  workspace_info: t('View workspace details'),
  list_runs: t('List its own runs'),
  notify_user: t('Send notifications'),
  emit_event: t('Emit events'),
  http_fetch: t('Fetch external URLs (each one needs approval)'),
  create_task: t('Create tasks'),
  delegate_task: t('Delegate tasks to other agents'),
  ask_agent: t('Ask other agents questions'),
  my_tasks: t('View its own tasks'),
  ask_user: t('Ask people questions'),
  save_file: t('Save files'),
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
