/**
 * The shapes of what is sent and answered, made of the OpenAPI document by
 * `bun scripts/client-types.ts`.
 * @module
 */
export type Access = {
  /** As entries of the audit log name it. */
  readonly decided_by: string
  readonly decision: AccessDecision
  readonly mask_effect?: MaskEffect
  readonly permission: TokenPermissionName
  /** Of the answer to such a request. */
  readonly status: number
  /** In their order; the first that fits decides. */
  readonly steps: readonly AccessStep[]
  /** The same in one sentence. */
  readonly text: string
}
export type AccessChange = {
  /** Of all stored tokens, exact. */
  readonly count: number
  readonly from: ShownAs
  readonly permission: ShowingPermissionName
  /** Ids of some, for a key that also holds `log:read`. */
  readonly samples: readonly string[]
  readonly to: ShownAs
}
export type AccessDecision = 'reveal' | 'mask' | 'redact' | 'hidden' | 'forbidden'
export type AccessSimulation = {
  readonly changes: readonly AccessChange[]
}
export type AccessStep = {
  readonly conditions?: readonly ConditionStep[]
  readonly container?: string
  readonly covers: boolean
  readonly decides: boolean
  readonly holds_permission: boolean
  readonly priority?: number
  /** `rule 0` by its place, or the plain permission. */
  readonly rule: string
  readonly transform?: Transform
}
export type AnswerCounts = {
  /** Answers below 400. */
  readonly answered: number
  /** Answers from 500 on. */
  readonly failed: number
  /** Half of them took at most so long, by the buckets of the metrics. */
  readonly p50_ms?: number
  readonly p99_ms?: number
  /** Answers from 400 to 499. */
  readonly refused: number
}
export type Application = {
  readonly _extras?: AccessSimulation
  readonly created_at: Date
  readonly created_by?: string
  readonly expires_at?: Date
  readonly id: string
  /** Only when it was just made. */
  readonly key?: string
  readonly modified_at?: Date
  readonly modified_by?: string
  readonly name: string
  readonly permissions: readonly PermissionName[]
  readonly rules: readonly Rule[]
  readonly tenant_id: string
  readonly type: ApplicationType
}
export type ApplicationKey = {
  readonly created_at?: Date
  readonly created_by?: string
  readonly expires_at?: Date
  readonly id: string
  /** Only when it was just made. */
  readonly key?: string
  /**
   * Format: date
   * @description In UTC; written a little after the use.
   */
  readonly last_used_on?: string
  /** Counts the keys of its application. */
  readonly version: string
}
export type ApplicationList = {
  readonly data: readonly Application[]
  readonly pagination: ApplicationPage
}
export type ApplicationPage = {
  readonly page_number: number
  readonly page_size: number
  readonly total_items: number
  readonly total_pages: number
}
export type ApplicationType = 'private' | 'public' | 'management'
export type BackupPlaceKind = 'folder' | 'bucket'
/** Absent where the server makes none. */
export type BackupState = {
  /** Age of the newest; absent where there is none. */
  readonly age_seconds?: number
  readonly every_seconds: number
  readonly failed: number
  /** By this server, since its start. */
  readonly made: number
  readonly to: BackupPlaceKind
}
/** Of a `bank`. Other members are kept. */
export type BankData = {
  /** 1 to 17 digits. */
  readonly account_number: string
  /** Nine digits that pass the ABA check. */
  readonly routing_number: string
}
/** Of a `card`. Other members are kept. */
export type CardData = {
  /** Three or four digits. */
  readonly cvc?: string | null
  /** 1 to 12. */
  readonly expiration_month?: number | null
  /** Four digits. */
  readonly expiration_year?: number | null
  /** 13 to 19 digits that pass the Luhn check. */
  readonly number: string
}
export type Condition = {
  readonly attribute: ConditionAttribute
  readonly operator: ConditionOperator
  /** Compared exactly; containers are compared in lower case. */
  readonly value: string
}
export type ConditionAttribute = 'id' | 'container'
export type ConditionOperator = 'starts_with' | 'equals'
export type ConditionStep = {
  readonly attribute: ConditionAttribute
  readonly holds: boolean
  readonly operator: ConditionOperator
}
export type ContainerList = {
  /** Those one step below, by name. */
  readonly below: readonly ListedContainer[]
  /** A path such as `/pci/`. */
  readonly container: string
  /** False if more than 50 are below. */
  readonly is_complete: boolean
  /** How many are in it itself. */
  readonly tokens: number
}
export type CreateApplicationKeyRequest = {
  /** From then on the key is refused. */
  readonly expires_at?: Date | string | null
}
export type CreateApplicationRequest = {
  /** From then on the key is refused. */
  readonly expires_at?: Date | string | null
  readonly name: string
  readonly permissions?: readonly PermissionName[] | null
  /** The first by priority that covers a token and holds the permission decides. */
  readonly rules?: readonly RuleRequest[] | null
  readonly type: ApplicationType
}
export type CreateSessionResponse = {
  readonly expires_at: Date
  readonly id: string
  /** Authorizes the session, once. */
  readonly nonce: string
  /** The key of the session, shown this once. */
  readonly session_key: string
}
export type CreateTokenRequest = {
  /** One path such as `/pci/high/`; the default depends on the type. */
  readonly containers?: readonly string[] | null
  /** Any JSON but null; its shape depends on the type. */
  readonly data: unknown
  /** Whether a live token of equal type and fingerprint serves. */
  readonly deduplicate_token?: boolean | null
  /**
   * ISO 8601, `M/D/YYYY h:mm:ss AM ±hh:mm` or `M/D/YYYY`; without offset in UTC. From then on the
   * token is expired.
   */
  readonly expires_at?: Date | string | null
  /** What the fingerprint is of; the default depends on the type. */
  readonly fingerprint_expression?: string | null
  /** A text, or an expression on `data`; a UUID where it is absent. */
  readonly id?: string | null
  /** An expression, or an array or object whose leaves are expressions. */
  readonly mask?: unknown
  /** Texts by name. Not sensitive. */
  readonly metadata?: {
    readonly [key: string]: string | null
  } | null
  /** Expressions on `data`; a search for `data` finds their values. */
  readonly search_indexes?: readonly string[] | null
  readonly type: TokenType
}
export type CreateWebhookRequest = {
  readonly events: readonly EventType[]
  readonly name: string
  /** Kept; no mail is sent. */
  readonly notify_email?: string | null
  /** Begins with https://. It may lead to public addresses, and to allowed ones. */
  readonly url: string
}
export type DeliveryPage = {
  readonly page_number: number
  readonly page_size: number
  readonly total_items: number
  readonly total_pages: number
}
export type DeliveryStatus = 'waiting' | 'dead'
export type EventLine = {
  /** For the next page; in the last line. */
  readonly after?: number
  /** The thing and who did it, by their ids. */
  readonly data?: unknown
  readonly id?: string
  /** The oldest entry kept; in the last line. */
  readonly oldest?: number
  /** Of its entry in the audit log. */
  readonly sequence?: number
  readonly tenant_id?: string
  readonly timestamp?: Date
  readonly trace_id?: string
  readonly type: EventType | 'page.end'
}
export type EventType =
  | 'token.created'
  | 'token.updated'
  | 'token.deleted'
  | 'token.expired'
  | 'token.read'
  | 'token.revealed'
  | 'application.created'
  | 'application.updated'
  | 'application.deleted'
  | 'application.key.created'
  | 'application.key.deleted'
  | 'session.created'
  | 'session.authorized'
  | 'webhook.test'
export type EventTypes = readonly string[]
export type ExplainAccessRequest = {
  /** Whose access; or give a session. */
  readonly application_id?: string | null
  readonly operation?: TokenOperationName | null
  readonly permission?: TokenPermissionName | null
  readonly place?: TokenPlace | null
  /** For a key that also holds `session:read`. */
  readonly session_id?: string | null
  /** A token; or give a place. */
  readonly token_id?: string | null
}
export type FailingCheck = {
  /** Its name at `/readyz`. */
  readonly check: string
  readonly level: FailingLevel
  /** What it means, and what to do. */
  readonly text: string
}
export type FailingLevel = 'fault' | 'warning'
export type Finding = {
  /** The flag, or the thing. */
  readonly about: string
  readonly level: FindingLevel
  readonly text: string
}
export type FindingLevel = 'fault' | 'warning' | 'note'
export type KeyState = {
  /** Age of the current one. */
  readonly data_key_age_seconds?: number
  /** The current one and those before. */
  readonly data_keys?: number
  /** Time for which the master key counts; absent where a rekey of before noted none. */
  readonly master_key_age_seconds?: number
  readonly source: MasterKeySource
}
/** Asks for at most that: the lesser of it and what the rules give is shown. */
export type LesserTransform = 'redact' | 'mask'
export type Levels = {
  /** What its disk has left. */
  readonly disk_free_bytes?: number
  /** The file of the vault; absent where a database holds it. */
  readonly file_bytes?: number
  /** Requests under way. */
  readonly in_flight?: number
  /** What the audit log takes. */
  readonly log_bytes?: number
  /** Since when a row that has expired is still there. */
  readonly sweep_lag_seconds?: number
  /** Rows that the index does not cover yet. */
  readonly unfolded_rows?: number
  /** Entries of the audit log that no checkpoint covers yet. */
  readonly unsigned_entries?: number
}
export type ListedContainer = {
  /** A path such as `/pci/`. */
  readonly container: string
  /** How many are in it and below. */
  readonly tokens: number
}
export type LogCheckpoint = {
  /** The verifier key that signed it. */
  readonly key: string
  /** A signed note of C2SP tlog-checkpoint. */
  readonly note: string
  /** The name of the log, and of its keys. */
  readonly origin: string
  /** Root of the tree, in base64. */
  readonly root: string
  /** Number of entries that it covers. */
  readonly size: number
}
export type LogEntityType = {
  readonly display_name: string
  /** For `entity_type`. */
  readonly value: string
}
export type LogEntry = {
  readonly actor_id?: string
  /** Type of the key; `operator`, or `vault` for what it does by itself. */
  readonly actor_type?: string
  /** Number of equal events that it stands for. */
  readonly count?: number
  readonly created_at: Date
  /** Id of the thing, if it is one. */
  readonly entity_id?: string
  /** Ids of the things, if they are several. */
  readonly entity_ids?: readonly string[]
  /** Kind of the things that were asked for. */
  readonly entity_type?: string
  readonly from?: string
  /** The sequence as a text. */
  readonly id: string
  readonly key_id?: string
  /** The same for people. */
  readonly message: string
  /** Name of the operation, as in this document. */
  readonly operation: string
  /** Code of the error, or `replay` for an answer that repeats an earlier effect. */
  readonly reason?: string
  readonly result: number
  /** What decided: `rule 0` by its place in order, a permission, or `none`. */
  readonly rule?: string
  /** Names of the fields that a search asked for, or `*`; never their values. */
  readonly searched?: readonly string[]
  /** Its place in the log of the installation, which all tenants share. */
  readonly sequence: number
  readonly session_id?: string
  /** As the caller has stated it in `SVC-REASON`. */
  readonly stated_reason?: string
  readonly tenant_id: string
  readonly trace_id?: string
  readonly transform?: Transform
}
export type LogList = {
  readonly data: readonly LogEntry[]
  readonly pagination: LogPage | LogStretch
}
export type LogPage = {
  readonly page_number: number
  readonly page_size: number
  /** Exactly what matches. */
  readonly total_items: number
  readonly total_pages: number
}
export type LogProof = {
  /** The exact text that is hashed. */
  readonly entry: string
  /** A signed note of C2SP tlog-checkpoint. */
  readonly note: string
  /** Hashes in base64, from the leaf up. */
  readonly proof: readonly string[]
  /** 16 bytes, in hexadecimal. */
  readonly salt: string
  readonly sequence: number
  /** Number of entries that the checkpoint covers. */
  readonly size: number
}
export type LogStretch = {
  /** Absent on the last stretch of a walk. */
  readonly next?: string
  readonly page_size: number
}
export type MaskEffect = 'shows' | 'shows_nothing' | 'absent' | 'evaluated'
export type MasterKeySource =
  'file' | 'credential' | 'environment' | 'passphrase' | 'data_folder' | 'shares' | 'memory'
export type OwnAccess = {
  /** As entries of the audit log name it. */
  readonly decided_by: string
  readonly decision: AccessDecision
  readonly permission: TokenPermissionName
  /** Of the answer to such a request. */
  readonly status: number
  /** In their order; the first that fits decides. */
  readonly steps: readonly AccessStep[]
  /** The same in one sentence. */
  readonly text: string
}
export type Permission = {
  /** The types of application that may be given it. */
  readonly application_types: readonly ApplicationType[]
  readonly description: string
  readonly type: PermissionName
}
export type PermissionName =
  | 'token:create'
  | 'token:update'
  | 'token:read'
  | 'token:search'
  | 'token:delete'
  | 'token:use'
  | 'application:read'
  | 'application:create'
  | 'application:update'
  | 'application:delete'
  | 'session:read'
  | 'session:delete'
  | 'tenant:read'
  | 'tenant:update'
  | 'key:read'
  | 'key:rotate'
  | 'log:read'
  | 'webhook:read'
  | 'webhook:create'
  | 'webhook:update'
  | 'webhook:delete'
  | 'access:explain'
  | 'status:read'
  | 'expression:preview'
/** RFC 9457 problem details. No value is ever repeated. */
export type Problem = {
  readonly detail: string
  /** Of a 400: dotted paths to what was expected there. */
  readonly errors?: {
    readonly [key: string]: readonly string[]
  }
  /** The trace id as a urn. */
  readonly instance: string
  readonly status: number
  readonly title: string
  readonly type: string
}
export type ProposedGrants = {
  readonly permissions?: readonly PermissionName[] | null
  /** The first by priority that covers a token and holds the permission decides. */
  readonly rules?: readonly RuleRequest[] | null
}
export type RefusalCount = {
  readonly count: number
  readonly kind: string
}
export type ReplayWebhookRequest = {
  /** Sequence of the first entry of the audit log whose events go once more. */
  readonly from: number
}
export type RotateWebhookRequest = {
  /**
   * How long the secret before signs as well.
   * @default 24
   */
  readonly overlap_hours: number | null
}
export type Rule = {
  readonly container: string
  readonly description?: string
  readonly permissions: readonly PermissionName[]
  readonly priority: number
  readonly transform: Transform
}
export type RuleRequest = {
  /** Refused: sessions alone have them. */
  readonly conditions?: unknown
  /** Covers itself and all below. */
  readonly container: string
  readonly description?: string | null
  readonly permissions: readonly PermissionName[]
  readonly priority: number
  readonly transform: Transform
}
export type Session = {
  readonly authorized: boolean
  readonly authorized_at?: Date
  /** The private application. */
  readonly authorized_by?: string
  readonly created_at: Date
  /** The public application. */
  readonly created_by: string
  readonly expires_at: Date
  readonly id: string
  readonly tenant_id: string
}
export type SessionGrants = {
  /** At most 24 hours ahead. If absent, 3 minutes after the creation. */
  readonly expires_at?: Date | string | null
  /** From the creation of the session. It is used up. */
  readonly nonce: string
  readonly permissions?: readonly TokenPermission[] | null
  readonly rules?: readonly SessionRule[] | null
}
export type SessionList = {
  readonly data: readonly Session[]
  readonly pagination: SessionStretch
}
/** Either `container` or `conditions`, of which all must hold. */
export type SessionRule = {
  readonly conditions?: readonly Condition[] | null
  readonly container?: string | null
  readonly description?: string | null
  readonly permissions: readonly TokenPermission[]
  readonly priority: number
  readonly transform: Transform
}
export type SessionStretch = {
  /** Absent on the last stretch. */
  readonly next?: string
  readonly page_size: number
}
export type SettingOrigin = 'flag' | 'environment' | 'file' | 'folder' | 'default' | 'program'
export type ShowingPermissionName = 'token:read' | 'token:search' | 'token:use'
export type ShownAs = 'redact' | 'mask' | 'reveal' | 'hidden'
export type ShownSetting = {
  /** The flag, the variable or the line of the file. */
  readonly by?: string
  readonly from: SettingOrigin
  /** True if it is set, and names a secret or a place. */
  readonly is_hidden?: boolean
  /** As in the file of `--config`. */
  readonly name: string
  /** Absent where it is not set, or not shown. */
  readonly value?: string | number | boolean | readonly string[]
}
export type ShownSettings = {
  readonly settings: readonly ShownSetting[]
}
export type SimulateAccessRequest = {
  readonly application_id: string
  readonly proposed: ProposedGrants
}
export type Status = {
  readonly answers?: AnswerCounts
  readonly backups?: BackupState
  readonly build: string
  readonly certificate_ends_at?: Date
  /** The size of the disk that the vault is on. */
  readonly disk_bytes?: number
  readonly failing: readonly FailingCheck[]
  /** What `coffer doctor` can find while a server serves. */
  readonly findings: readonly Finding[]
  /** True if requests may come. */
  readonly is_ready: boolean
  readonly keys?: KeyState
  readonly levels?: Levels
  /** What the audit log may take, if that is bounded. */
  readonly log_budget_bytes?: number
  /** Answers that are errors, by kind, the most frequent first. */
  readonly refusals?: readonly RefusalCount[]
  /** Rows ever inserted, also those that are gone. */
  readonly rows_given?: number
  readonly serving_seconds: number
  readonly started_at?: Date
  readonly store: StoreKind
  readonly version: string
  /** Processes that serve together. */
  readonly workers?: number
}
export type StatusHistory = {
  /** Oldest first; the last one ends with this request. */
  readonly samples: readonly StatusSample[]
}
export type StatusSample = {
  readonly answers: AnswerCounts
  /** End of the time that it tells about. */
  readonly at: Date
  readonly levels: Levels
  /** Length of that time. */
  readonly seconds: number
}
export type StoreKind = 'folder' | 'database'
export type Tenant = {
  readonly created_at: Date
  readonly id: string
  readonly modified_at?: Date
  readonly modified_by?: string
  readonly name?: string
  /** The application that was made with the tenant, also when it is gone. */
  readonly owner_id?: string
}
export type Token = {
  readonly _extras?: {
    readonly access?: OwnAccess
    /** Of a card with a cvc: when that ends, by itself. */
    readonly cvc_expires_at?: Date
    /** In the answer of create and update, where deduplication is on. */
    readonly deduplicated?: boolean
  }
  readonly containers?: readonly string[]
  readonly created_at?: Date
  readonly created_by?: string
  /** Masked or revealed, absent if redacted. Of a mask it may be null. */
  readonly data?: unknown
  readonly expires_at?: Date
  /** Equal for equal content of one type; absent if redacted. */
  readonly fingerprint?: string
  readonly fingerprint_expression?: string
  readonly id: string
  /** As it was written. */
  readonly mask?: unknown
  readonly metadata?: {
    readonly [key: string]: string
  }
  readonly modified_at?: Date
  readonly modified_by?: string
  readonly search_indexes?: readonly string[]
  readonly tenant_id?: string
  readonly type: TokenType
}
export type TokenizedInPart = {
  readonly results: readonly {
    /** Title, status, detail and errors. */
    readonly error?: unknown
    /** Counts the items of the body from 0. */
    readonly index: number
    /** Where the item stands, by positions. */
    readonly path: string
    /** 201, or what is wrong with the item. */
    readonly status: number
    readonly token?: Token | string
  }[]
  /** The items that failed, as they came, in their order. */
  readonly retry?: readonly unknown[]
}
export type TokenList = {
  readonly data: readonly Token[]
  readonly pagination: TokenPage | TokenStretch
}
export type TokenOperationName =
  | 'createToken'
  | 'getToken'
  | 'updateToken'
  | 'deleteToken'
  | 'listTokens'
  | 'listTokensByCursor'
  | 'listContainers'
  | 'searchTokens'
  | 'searchTokensByCursor'
  | 'tokenize'
  | 'detokenize'
export type TokenPage = {
  readonly page_number: number
  readonly page_size: number
  /** Exactly what the caller may see. */
  readonly total_items: number
  readonly total_pages: number
}
export type TokenPermission =
  'token:create' | 'token:update' | 'token:read' | 'token:search' | 'token:delete' | 'token:use'
export type TokenPermissionName =
  'token:create' | 'token:update' | 'token:read' | 'token:search' | 'token:delete' | 'token:use'
/** Where a token would be. */
export type TokenPlace = {
  readonly containers: readonly string[]
  readonly id?: string | null
}
export type TokenPreview = {
  readonly containers: readonly string[]
  /** Masked; absent if the mask shows nothing. */
  readonly data?: unknown
  readonly expires_at?: Date
  readonly fingerprint_expression: string
  /** Tokens of one type in which it is equal have one fingerprint. */
  readonly fingerprint_text: string
  /** Absent: a random UUID. By chance, one of many such ids. */
  readonly id?: string
  /** As it was written. */
  readonly mask?: unknown
  readonly metadata?: {
    readonly [key: string]: string
  }
  readonly search_indexes: readonly string[]
  /** What a search for `data` would find it by, whatever the case. */
  readonly search_texts: readonly string[]
  readonly type: TokenType
}
export type TokenSearch = {
  readonly page?: number | null
  /** What to find; `*` alone finds all tokens. */
  readonly query: string
  readonly size?: number | null
  /** Asks for a walk: empty at first, then the `next` that came. */
  readonly start?: string | null
  readonly transform?: LesserTransform | null
}
export type TokenStretch = {
  /** Absent on the last stretch of a walk. */
  readonly next?: string
  readonly page_size: number
}
/** What it holds. */
export type TokenType =
  | 'token'
  | 'card'
  | 'bank'
  | 'card_number'
  | 'us_bank_account_number'
  | 'us_bank_routing_number'
  | 'social_security_number'
  | 'employer_id_number'
  | 'email'
  | 'phone'
  | 'iban'
  | 'name'
  | 'address'
  | 'date_of_birth'
export type TokenWalk = {
  readonly data: readonly Token[]
  readonly pagination: TokenStretch
}
export type Transform = 'redact' | 'mask' | 'reveal'
export type UpdateApplicationRequest = {
  readonly name: string
  readonly permissions?: readonly PermissionName[] | null
  /** The first by priority that covers a token and holds the permission decides. */
  readonly rules?: readonly RuleRequest[] | null
}
export type UpdateTenantRequest = {
  readonly name: string
}
/** RFC 7386: `data`, `mask` and `metadata` are merged, all else is replaced. */
export type UpdateTokenRequest = {
  /** One path such as `/pci/high/`; the default depends on the type. */
  readonly containers?: readonly string[]
  /** Any JSON but null; its shape depends on the type. */
  readonly data?: unknown
  /** Whether a live token of equal type and fingerprint serves. */
  readonly deduplicate_token?: boolean | null
  /**
   * ISO 8601, `M/D/YYYY h:mm:ss AM ±hh:mm` or `M/D/YYYY`; without offset in UTC. From then on the
   * token is expired.
   */
  readonly expires_at?: Date | string | null
  /** What the fingerprint is of; the default depends on the type. */
  readonly fingerprint_expression?: string | null
  /** An expression, or an array or object whose leaves are expressions. */
  readonly mask?: unknown
  /** Texts by name. Not sensitive. */
  readonly metadata?: {
    readonly [key: string]: string | null
  } | null
  /** Expressions on `data`; a search for `data` finds their values. */
  readonly search_indexes?: readonly string[] | null
}
export type UpdateWebhookRequest = {
  readonly events: readonly EventType[]
  readonly name: string
  /** Kept; no mail is sent. */
  readonly notify_email?: string | null
  readonly status?: WebhookStatus | null
  /** Begins with https://. It may lead to public addresses, and to allowed ones. */
  readonly url: string
}
export type Webhook = {
  readonly created_at: Date
  readonly created_by: string
  readonly disabled_by?: WebhookDisabledBy
  readonly events: readonly EventType[]
  readonly id: string
  readonly modified_at?: Date
  readonly modified_by?: string
  readonly name: string
  readonly notify_email?: string
  /** Only when it was just made. */
  readonly secret?: string
  readonly status: WebhookStatus
  readonly tenant_id: string
  /** Its path and query are shown to who may update it. */
  readonly url: string
}
export type WebhookDelivery = {
  readonly attempts: number
  readonly event_id: string
  /**
   * Status of the last answer, or what failed before one: `no_public_address` for a name without
   * address, and for an address that nobody allows.
   */
  readonly failure?: string
  readonly given_up_at?: Date
  readonly next_attempt_at?: Date
  /** Of its entry in the audit log. */
  readonly sequence: number
  readonly status: DeliveryStatus
  readonly type?: EventType
}
export type WebhookDeliveryList = {
  readonly data: readonly WebhookDelivery[]
  readonly pagination: DeliveryPage
}
export type WebhookDisabledBy = 'gone' | 'failing'
export type WebhookList = {
  readonly data: readonly Webhook[]
  readonly pagination: WebhookPage
}
export type WebhookPage = {
  readonly page_size: number
}
export type WebhookPublicKey = {
  /** Verifies signatures v1a of every webhook of this vault. */
  readonly key: string
}
export type WebhookStatus = 'enabled' | 'disabled'
