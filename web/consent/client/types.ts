/** Fields that every request shows. */
interface AnyRequest {
  scopes: Scope[]
  workspaces: Workspace[]
  /** True if no one else can open this link any more. */
  claimed: boolean
  redirect_host: string
  expires_in: number
}

/** Response of `GET /oauth/consent/request`. */
export interface AppRequest extends AnyRequest {
  app: {
    name: string
    summary: string
    logo_path: string
    developer_name: string
    verified: boolean
    privacy_url: string | null
    similar_to: { slug: string; name: string; developer_name: string }[]
  }
}

/** Response of `GET /connect/consent/request`. */
export interface HostRequest extends AnyRequest {
  client: { name: string; host: string; kind: 'document' | 'registered' }
  /** Slug of the only agent that the access is for. */
  agent: string | null
  protocol: 'mcp' | 'a2a'
  /** The person returns to a program on their own machine. */
  loopback: boolean
}

export type ConsentRequest = AppRequest | HostRequest

export interface Scope {
  scope: string
  description: string
  dangerous: boolean
}

export interface Workspace {
  id: string
  name: string
  is_sandbox: boolean
  blocked_by:
    | 'admin_required'
    | 'app_not_approved'
    | 'installation_suspended'
    | 'hosts_disabled'
    | 'host_not_allowed'
    | 'workspace_suspended'
    | null
  denied_scopes: string[]
  granted_scopes: string[] | null
}

/** Response of `GET /oauth/consent/status`. */
export interface ConsentStatus {
  over: boolean
  expires_in: number | null
  app: { name: string; developer_name: string; verified: boolean } | null
}
