-- The embedded database at its newest revision. Generated: `make docs` writes it from the history.
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE crawl_sources (
	id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	base_url VARCHAR(1000), 
	settings JSON, 
	is_active BOOLEAN DEFAULT 1 NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT uq_crawl_sources_name UNIQUE (name)
);
CREATE TABLE target_types (
	id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	description VARCHAR(500), 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT uq_target_types_name UNIQUE (name)
);
CREATE TABLE crawl_targets (
	id INTEGER NOT NULL, 
	source_id INTEGER, 
	target_type_id INTEGER NOT NULL, 
	target_key VARCHAR(200) NOT NULL, 
	name VARCHAR(200), 
	data JSON, 
	is_active BOOLEAN DEFAULT 1 NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT fk_crawl_targets_source_id FOREIGN KEY(source_id) REFERENCES crawl_sources (id), 
	CONSTRAINT fk_crawl_targets_target_type_id FOREIGN KEY(target_type_id) REFERENCES target_types (id), 
	CONSTRAINT uq_crawl_targets_source_id_target_type_id_target_key UNIQUE (source_id, target_type_id, target_key)
);
CREATE TABLE crawling_workflows (
	id INTEGER NOT NULL, 
	source_id INTEGER, 
	workflow_name VARCHAR(100) NOT NULL, 
	workflow_type VARCHAR(20) NOT NULL, 
	workflow_definition JSON NOT NULL, 
	is_active BOOLEAN DEFAULT 1 NOT NULL, 
	version INTEGER NOT NULL, 
	checksum VARCHAR(64) NOT NULL, 
	tolerance DOUBLE DEFAULT 0 NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT ck_crawling_workflows_workflow_type CHECK (workflow_type in ('FULL_SCAN', 'INCREMENTAL', 'TARGETED')), 
	CONSTRAINT fk_crawling_workflows_source_id FOREIGN KEY(source_id) REFERENCES crawl_sources (id), 
	CONSTRAINT uq_crawling_workflows_workflow_name UNIQUE (workflow_name)
);
CREATE TABLE parallel_execution_config (
	workflow_id INTEGER NOT NULL, 
	max_parallel_jobs INTEGER DEFAULT 5 NOT NULL, 
	max_parallel_tasks INTEGER DEFAULT (10) NOT NULL, 
	resource_pool VARCHAR(50), 
	PRIMARY KEY (workflow_id), 
	CONSTRAINT fk_parallel_execution_config_workflow_id FOREIGN KEY(workflow_id) REFERENCES crawling_workflows (id)
);
CREATE TABLE target_workflow_mappings (
	target_type_id INTEGER NOT NULL, 
	workflow_id INTEGER NOT NULL, 
	condition_expression VARCHAR(1000), 
	priority INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (target_type_id, workflow_id), 
	CONSTRAINT fk_target_workflow_mappings_target_type_id FOREIGN KEY(target_type_id) REFERENCES target_types (id), 
	CONSTRAINT fk_target_workflow_mappings_workflow_id FOREIGN KEY(workflow_id) REFERENCES crawling_workflows (id)
);
CREATE TABLE workflow_steps (
	id INTEGER NOT NULL, 
	workflow_id INTEGER NOT NULL, 
	workflow_version INTEGER NOT NULL, 
	step_order INTEGER NOT NULL, 
	step_name VARCHAR(100) NOT NULL, 
	step_type VARCHAR(20) NOT NULL, 
	target_type_id INTEGER, 
	input_mapping JSON, 
	output_mapping JSON, 
	error_handling VARCHAR(20) DEFAULT 'RETRY' NOT NULL, 
	max_retries INTEGER DEFAULT 3 NOT NULL, 
	handler VARCHAR(100) NOT NULL, 
	mode VARCHAR(20) DEFAULT 'stream' NOT NULL, 
	gather BOOLEAN DEFAULT 0 NOT NULL, 
	resource_pool VARCHAR(50), 
	queue SMALLINT, 
	config JSON, 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT ck_workflow_steps_error_handling CHECK (error_handling in ('RETRY', 'SKIP', 'FAIL')), 
	CONSTRAINT ck_workflow_steps_mode CHECK (mode in ('stream', 'barrier')), 
	CONSTRAINT ck_workflow_steps_step_type CHECK (step_type in ('FETCH', 'PARSE', 'TRANSFORM', 'VALIDATE', 'STORE')), 
	CONSTRAINT fk_workflow_steps_target_type_id FOREIGN KEY(target_type_id) REFERENCES target_types (id), 
	CONSTRAINT fk_workflow_steps_workflow_id FOREIGN KEY(workflow_id) REFERENCES crawling_workflows (id), 
	CONSTRAINT uq_workflow_steps_workflow_id_workflow_version_step_name UNIQUE (workflow_id, workflow_version, step_name), 
	CONSTRAINT uq_workflow_steps_workflow_id_workflow_version_step_order UNIQUE (workflow_id, workflow_version, step_order)
);
CREATE TABLE workflow_versions (
	workflow_id INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	workflow_definition JSON NOT NULL, 
	checksum VARCHAR(64) NOT NULL, 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (workflow_id, version), 
	CONSTRAINT fk_workflow_versions_workflow_id FOREIGN KEY(workflow_id) REFERENCES crawling_workflows (id)
);
CREATE TABLE schedule_fires (
	schedule_id INTEGER NOT NULL, 
	fire_at TEXT NOT NULL, 
	decision VARCHAR(20) NOT NULL, 
	job_id INTEGER, 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (schedule_id, fire_at)
);
CREATE INDEX ix_schedule_fires_created_at ON schedule_fires (created_at);
CREATE TABLE crawling_schedules (
	id INTEGER NOT NULL, 
	workflow_id INTEGER NOT NULL, 
	target_id INTEGER, 
	schedule_type VARCHAR(20) NOT NULL, 
	cron_expression VARCHAR(100), 
	is_active BOOLEAN DEFAULT 1 NOT NULL, 
	priority INTEGER DEFAULT 5 NOT NULL, 
	next_run_at TEXT, 
	last_run_at TEXT, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	deleted_at TEXT, 
	name VARCHAR(100) NOT NULL, 
	live_name VARCHAR(100), 
	timezone VARCHAR(64) DEFAULT 'UTC' NOT NULL, 
	misfire VARCHAR(20) DEFAULT 'ONCE' NOT NULL, 
	misfire_window_s INTEGER DEFAULT (86400) NOT NULL, 
	misfire_cap INTEGER DEFAULT (10) NOT NULL, 
	overlap VARCHAR(20) DEFAULT 'SKIP' NOT NULL, 
	jitter_s INTEGER DEFAULT 0 NOT NULL, 
	job_type VARCHAR(20) DEFAULT 'FULL' NOT NULL, 
	input TEXT, 
	interval_s INTEGER, 
	min_interval_s INTEGER, 
	max_interval_s INTEGER, 
	previous_fire_at TEXT, 
	PRIMARY KEY (id), 
	CONSTRAINT ck_crawling_schedules_job_type CHECK (job_type in ('FULL', 'INCREMENTAL', 'RETRY')), 
	CONSTRAINT ck_crawling_schedules_misfire CHECK (misfire in ('SKIP', 'ONCE', 'ALL')), 
	CONSTRAINT ck_crawling_schedules_overlap CHECK (overlap in ('SKIP', 'BUFFER_ONE', 'ALLOW', 'CANCEL_OTHER')), 
	CONSTRAINT ck_crawling_schedules_schedule_type CHECK (schedule_type in ('FIXED', 'DYNAMIC', 'MANUAL')), 
	CONSTRAINT fk_crawling_schedules_target_id FOREIGN KEY(target_id) REFERENCES crawl_targets (id), 
	CONSTRAINT fk_crawling_schedules_workflow_id FOREIGN KEY(workflow_id) REFERENCES crawling_workflows (id), 
	CONSTRAINT uq_crawling_schedules_live_name UNIQUE (live_name)
);
CREATE INDEX ix_crawling_schedules_due ON crawling_schedules (is_active, next_run_at);
CREATE TABLE crawling_jobs (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	schedule_id INTEGER, 
	workflow_id INTEGER NOT NULL, 
	target_id INTEGER, 
	job_type VARCHAR(20) DEFAULT 'FULL' NOT NULL, 
	status VARCHAR(20) NOT NULL, 
	scheduled_at TEXT, 
	started_at TEXT, 
	completed_at TEXT, 
	total_items INTEGER DEFAULT 0 NOT NULL, 
	processed_items INTEGER DEFAULT 0 NOT NULL, 
	success_count INTEGER DEFAULT 0 NOT NULL, 
	failed_count INTEGER DEFAULT 0 NOT NULL, 
	error_summary TEXT, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	workflow_version INTEGER NOT NULL, 
	priority INTEGER DEFAULT 5 NOT NULL, 
	queue SMALLINT DEFAULT 1 NOT NULL, 
	skipped_count INTEGER DEFAULT 0 NOT NULL, 
	cancelled_count INTEGER DEFAULT 0 NOT NULL, 
	retry_count INTEGER DEFAULT 0 NOT NULL, 
	input TEXT, 
	dedup_key VARCHAR(200), 
	is_paused BOOLEAN DEFAULT 0 NOT NULL, 
	pause_reason VARCHAR(500), 
	is_doomed BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT ck_crawling_jobs_job_type CHECK (job_type in ('FULL', 'INCREMENTAL', 'RETRY')), 
	CONSTRAINT ck_crawling_jobs_status CHECK (status in ('PENDING', 'RUNNING', 'SUCCESS', 'FAILED', 'CANCELLED')), 
	CONSTRAINT uq_crawling_jobs_dedup_key UNIQUE (dedup_key)
);
CREATE INDEX ix_crawling_jobs_completed_at ON crawling_jobs (completed_at);
CREATE INDEX ix_crawling_jobs_created_at ON crawling_jobs (created_at);
CREATE INDEX ix_crawling_jobs_schedule ON crawling_jobs (schedule_id, status);
CREATE INDEX ix_crawling_jobs_status ON crawling_jobs (status, id);
CREATE INDEX ix_crawling_jobs_workflow ON crawling_jobs (workflow_id, status);
CREATE TABLE crawling_jobs_archive (
	id INTEGER NOT NULL, 
	schedule_id INTEGER, 
	workflow_id INTEGER NOT NULL, 
	target_id INTEGER, 
	job_type VARCHAR(20) DEFAULT 'FULL' NOT NULL, 
	status VARCHAR(20) NOT NULL, 
	scheduled_at TEXT, 
	started_at TEXT, 
	completed_at TEXT, 
	total_items INTEGER DEFAULT 0 NOT NULL, 
	processed_items INTEGER DEFAULT 0 NOT NULL, 
	success_count INTEGER DEFAULT 0 NOT NULL, 
	failed_count INTEGER DEFAULT 0 NOT NULL, 
	error_summary TEXT, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	workflow_version INTEGER NOT NULL, 
	priority INTEGER DEFAULT 5 NOT NULL, 
	queue SMALLINT DEFAULT 1 NOT NULL, 
	skipped_count INTEGER DEFAULT 0 NOT NULL, 
	cancelled_count INTEGER DEFAULT 0 NOT NULL, 
	retry_count INTEGER DEFAULT 0 NOT NULL, 
	input TEXT, 
	step_results JSON, 
	archived_at TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX ix_crawling_jobs_archive_completed_at ON crawling_jobs_archive (completed_at);
CREATE TABLE job_contexts (
	id INTEGER NOT NULL, 
	job_id INTEGER NOT NULL, 
	patch TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX ix_job_contexts_job ON job_contexts (job_id);
CREATE TABLE job_deltas (
	id INTEGER NOT NULL, 
	job_id INTEGER NOT NULL, 
	step_id INTEGER NOT NULL, 
	created INTEGER DEFAULT 0 NOT NULL, 
	succeeded INTEGER DEFAULT 0 NOT NULL, 
	failed INTEGER DEFAULT 0 NOT NULL, 
	skipped INTEGER DEFAULT 0 NOT NULL, 
	cancelled INTEGER DEFAULT 0 NOT NULL, 
	retried INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX ix_job_deltas_job ON job_deltas (job_id);
CREATE TABLE job_sweeps (
	job_id INTEGER NOT NULL, 
	next_at TEXT NOT NULL, 
	PRIMARY KEY (job_id)
);
CREATE TABLE job_dependencies (
	job_id INTEGER NOT NULL, 
	depends_on_job_id INTEGER NOT NULL, 
	dependency_type VARCHAR(20) NOT NULL, 
	PRIMARY KEY (job_id, depends_on_job_id), 
	CONSTRAINT ck_job_dependencies_dependency_type CHECK (dependency_type in ('FINISH', 'SUCCESS')), 
	CONSTRAINT fk_job_dependencies_job_id FOREIGN KEY(job_id) REFERENCES crawling_jobs (id) ON DELETE CASCADE
);
CREATE INDEX ix_job_dependencies_on ON job_dependencies (depends_on_job_id);
CREATE TABLE job_steps (
	job_id INTEGER NOT NULL, 
	step_id INTEGER NOT NULL, 
	step_order INTEGER NOT NULL, 
	state VARCHAR(20) DEFAULT 'PENDING' NOT NULL, 
	created INTEGER DEFAULT 0 NOT NULL, 
	succeeded INTEGER DEFAULT 0 NOT NULL, 
	failed INTEGER DEFAULT 0 NOT NULL, 
	skipped INTEGER DEFAULT 0 NOT NULL, 
	cancelled INTEGER DEFAULT 0 NOT NULL, 
	retried INTEGER DEFAULT 0 NOT NULL, 
	started_at TEXT, 
	completed_at TEXT, 
	PRIMARY KEY (job_id, step_id), 
	CONSTRAINT ck_job_steps_state CHECK (state in ('PENDING', 'RUNNING', 'DONE')), 
	CONSTRAINT fk_job_steps_job_id FOREIGN KEY(job_id) REFERENCES crawling_jobs (id) ON DELETE CASCADE
);
CREATE TABLE workflow_executions (
	id INTEGER NOT NULL, 
	workflow_id INTEGER NOT NULL, 
	job_id INTEGER NOT NULL, 
	current_step VARCHAR(100), 
	status VARCHAR(20) NOT NULL, 
	context JSON, 
	step_results JSON, 
	started_at TEXT, 
	completed_at TEXT, 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT ck_workflow_executions_status CHECK (status in ('RUNNING', 'COMPLETED', 'FAILED', 'PAUSED')), 
	CONSTRAINT fk_workflow_executions_job_id FOREIGN KEY(job_id) REFERENCES crawling_jobs (id) ON DELETE CASCADE, 
	CONSTRAINT uq_workflow_executions_job_id UNIQUE (job_id)
);
CREATE TABLE dead_letters (
	task_id INTEGER NOT NULL, 
	job_id INTEGER NOT NULL, 
	step_id INTEGER NOT NULL, 
	workflow_id INTEGER NOT NULL, 
	lane INTEGER NOT NULL, 
	queue SMALLINT NOT NULL, 
	priority SMALLINT NOT NULL, 
	dispatches SMALLINT NOT NULL, 
	reason_class VARCHAR(20) NOT NULL, 
	error TEXT, 
	fingerprint VARCHAR(64) NOT NULL, 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (task_id), 
	CONSTRAINT ck_dead_letters_reason_class CHECK (reason_class in ('TRANSPORT', 'TIMEOUT', 'CRASHED', 'INVALID', 'REJECTED', 'DRIFTED', 'BUG'))
);
CREATE INDEX ix_dead_letters_job ON dead_letters (job_id);
CREATE INDEX ix_dead_letters_reason ON dead_letters (reason_class, created_at);
CREATE TABLE task_attempts (
	id INTEGER NOT NULL, 
	task_id INTEGER NOT NULL, 
	job_id INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	outcome VARCHAR(20) NOT NULL, 
	reason_class VARCHAR(20), 
	error TEXT, 
	worker_id INTEGER, 
	started_at TEXT, 
	ended_at TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX ix_task_attempts_ended_at ON task_attempts (ended_at);
CREATE INDEX ix_task_attempts_task ON task_attempts (task_id);
CREATE TABLE tasks (
	id INTEGER NOT NULL, 
	job_id INTEGER NOT NULL, 
	step_id INTEGER NOT NULL, 
	task_key VARCHAR(200) NOT NULL, 
	target_url VARCHAR(1000), 
	pool VARCHAR(100), 
	task_type VARCHAR(20) NOT NULL, 
	status VARCHAR(20) NOT NULL, 
	outcome VARCHAR(20), 
	retry_count SMALLINT DEFAULT 0 NOT NULL, 
	sequence_number INTEGER DEFAULT 0 NOT NULL, 
	input_data TEXT, 
	output_data TEXT, 
	signal_data TEXT, 
	started_at TEXT, 
	completed_at TEXT, 
	response_time_ms INTEGER, 
	error_message TEXT, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT uq_tasks_job_id_step_id_task_key UNIQUE (job_id, step_id, task_key)
);
CREATE INDEX ix_tasks_job_status ON tasks (job_id, status);
CREATE TABLE budgets (
	pool VARCHAR(100) NOT NULL, 
	rate DOUBLE, 
	burst DOUBLE, 
	tokens DOUBLE DEFAULT 0 NOT NULL, 
	refilled_at TEXT, 
	max_in_flight INTEGER, 
	counts_batches BOOLEAN DEFAULT 0 NOT NULL, 
	blocked_until TEXT, 
	reason VARCHAR(500), 
	updated_at TEXT NOT NULL, 
	PRIMARY KEY (pool)
);
CREATE TABLE lanes (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	handler VARCHAR(100) NOT NULL, 
	job_id INTEGER DEFAULT 0 NOT NULL, 
	pools VARCHAR(300) DEFAULT ('') NOT NULL, 
	CONSTRAINT uq_lanes_handler_job_id_pools UNIQUE (handler, job_id, pools)
);
CREATE INDEX ix_lanes_job ON lanes (job_id);
CREATE TABLE queue_claims (
	token INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	worker_id INTEGER NOT NULL, 
	lane INTEGER NOT NULL, 
	size INTEGER NOT NULL, 
	entries TEXT NOT NULL, 
	claimed_at TEXT NOT NULL, 
	deadline_at TEXT NOT NULL
);
CREATE TABLE queue_delayed (
	task_id INTEGER NOT NULL, 
	run_at TEXT NOT NULL, 
	reason VARCHAR(200), 
	job_id INTEGER NOT NULL, 
	lane INTEGER NOT NULL, 
	queue SMALLINT NOT NULL, 
	priority SMALLINT NOT NULL, 
	attempt SMALLINT NOT NULL, 
	dispatches SMALLINT NOT NULL, 
	PRIMARY KEY (task_id)
);
CREATE INDEX ix_queue_delayed_job ON queue_delayed (job_id);
CREATE INDEX ix_queue_delayed_run_at ON queue_delayed (run_at, task_id);
CREATE TABLE queue_held (
	task_id INTEGER NOT NULL, 
	step_id INTEGER NOT NULL, 
	reason VARCHAR(20) NOT NULL, 
	wait_key VARCHAR(200), 
	until TEXT, 
	job_id INTEGER NOT NULL, 
	lane INTEGER NOT NULL, 
	queue SMALLINT NOT NULL, 
	priority SMALLINT NOT NULL, 
	attempt SMALLINT NOT NULL, 
	dispatches SMALLINT NOT NULL, 
	PRIMARY KEY (task_id), 
	CONSTRAINT ck_queue_held_reason CHECK (reason in ('PAUSED', 'BARRIER', 'WAIT'))
);
CREATE INDEX ix_queue_held_job ON queue_held (job_id, reason, step_id);
CREATE INDEX ix_queue_held_until ON queue_held (until);
CREATE TABLE queue_ready (
	task_id INTEGER NOT NULL, 
	due INTEGER NOT NULL, 
	job_id INTEGER NOT NULL, 
	lane INTEGER NOT NULL, 
	queue SMALLINT NOT NULL, 
	priority SMALLINT NOT NULL, 
	attempt SMALLINT NOT NULL, 
	dispatches SMALLINT NOT NULL, 
	PRIMARY KEY (task_id)
);
CREATE INDEX ix_queue_ready_claim ON queue_ready (lane, due, task_id);
CREATE TABLE waits (
	wait_key VARCHAR(200) NOT NULL, 
	task_id INTEGER, 
	signal_data TEXT, 
	signalled_at TEXT, 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (wait_key)
);
CREATE INDEX ix_waits_created_at ON waits (created_at);
CREATE TABLE lane_pools (
	pool VARCHAR(100) NOT NULL, 
	lane INTEGER NOT NULL, 
	PRIMARY KEY (pool, lane), 
	CONSTRAINT fk_lane_pools_lane FOREIGN KEY(lane) REFERENCES lanes (id) ON DELETE CASCADE
);
CREATE TABLE engine_statistics (
	name VARCHAR(100) NOT NULL, 
	label VARCHAR(200) NOT NULL, 
	value DOUBLE NOT NULL, 
	measured_at TEXT NOT NULL, 
	PRIMARY KEY (name, label)
);
CREATE TABLE id_blocks (
	name VARCHAR(50) NOT NULL, 
	next INTEGER NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE leaders (
	name VARCHAR(100) NOT NULL, 
	holder VARCHAR(100) NOT NULL, 
	term INTEGER NOT NULL, 
	expires_at TEXT NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE workers (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR(200) NOT NULL, 
	started_at TEXT NOT NULL, 
	beat_at TEXT NOT NULL, 
	draining BOOLEAN DEFAULT 0 NOT NULL
);
CREATE TABLE alerts (
	id INTEGER NOT NULL, 
	alert_key VARCHAR(200) NOT NULL, 
	rule VARCHAR(100) NOT NULL, 
	level VARCHAR(20) NOT NULL, 
	title VARCHAR(300) NOT NULL, 
	text TEXT NOT NULL, 
	link VARCHAR(1000), 
	fields TEXT, 
	opened_at TEXT NOT NULL, 
	last_notified_at TEXT, 
	resolved_at TEXT, 
	count INTEGER DEFAULT '1' NOT NULL, 
	owed VARCHAR(20) NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT ck_alerts_level CHECK (level in ('OK', 'INFO', 'WARNING', 'CRITICAL')), 
	CONSTRAINT ck_alerts_owed CHECK (owed in ('OPENED', 'REMINDER', 'RECOVERY', 'NOTHING')), 
	CONSTRAINT uq_alerts_alert_key UNIQUE (alert_key)
);
CREATE INDEX ix_alerts_owed ON alerts (owed);
CREATE INDEX ix_alerts_resolved ON alerts (resolved_at);
CREATE TABLE audit_log (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	at TEXT NOT NULL, 
	actor VARCHAR(200) NOT NULL, 
	action VARCHAR(100) NOT NULL, 
	subject_type VARCHAR(100) NOT NULL, 
	subject_id VARCHAR(200) NOT NULL, 
	before_data TEXT, 
	after_data TEXT
);
CREATE INDEX ix_audit_log_at ON audit_log (at);
CREATE INDEX ix_audit_log_subject ON audit_log (subject_type, subject_id, id);
CREATE TABLE outbox (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	topic VARCHAR(100) NOT NULL, 
	event_key VARCHAR(200) NOT NULL, 
	payload TEXT NOT NULL, 
	headers TEXT, 
	created_at TEXT NOT NULL
);
CREATE TABLE subscriptions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR(100) NOT NULL, 
	topics VARCHAR(1000) NOT NULL, 
	url VARCHAR(1000) NOT NULL, 
	secret VARCHAR(500), 
	state VARCHAR(20) DEFAULT 'ACTIVE' NOT NULL, 
	paused_reason VARCHAR(500), 
	hold_until TEXT, 
	failures INTEGER DEFAULT '0' NOT NULL, 
	last_error VARCHAR(500), 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	CONSTRAINT ck_subscriptions_state CHECK (state in ('ACTIVE', 'PAUSED')), 
	CONSTRAINT uq_subscriptions_name UNIQUE (name)
);
CREATE TABLE deliveries (
	event_id INTEGER NOT NULL, 
	subscription_id INTEGER NOT NULL, 
	topic VARCHAR(100) NOT NULL, 
	event_key VARCHAR(200) NOT NULL, 
	payload TEXT NOT NULL, 
	headers TEXT, 
	created_at TEXT NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	since TEXT NOT NULL, 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	last_error VARCHAR(500), 
	PRIMARY KEY (event_id, subscription_id), 
	CONSTRAINT ck_deliveries_state CHECK (state in ('PENDING', 'DEAD')), 
	CONSTRAINT fk_deliveries_subscription_id FOREIGN KEY(subscription_id) REFERENCES subscriptions (id) ON DELETE CASCADE
);
CREATE INDEX ix_deliveries_order ON deliveries (subscription_id, state, event_key, event_id);
CREATE INDEX ix_deliveries_since ON deliveries (since);
CREATE TABLE delivery_keys (
	subscription_id INTEGER NOT NULL, 
	event_key VARCHAR(200) NOT NULL, 
	next_at TEXT NOT NULL, 
	token VARCHAR(32), 
	PRIMARY KEY (subscription_id, event_key), 
	CONSTRAINT fk_delivery_keys_subscription_id FOREIGN KEY(subscription_id) REFERENCES subscriptions (id) ON DELETE CASCADE
);
CREATE INDEX ix_delivery_keys_due ON delivery_keys (subscription_id, next_at);
CREATE TABLE api_keys (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR(100) NOT NULL, 
	role VARCHAR(20) NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	prefix VARCHAR(20) NOT NULL, 
	created_at TEXT NOT NULL, 
	last_used_at TEXT, 
	revoked_at TEXT, 
	CONSTRAINT ck_api_keys_role CHECK (role in ('viewer', 'operator', 'admin')), 
	CONSTRAINT uq_api_keys_hash UNIQUE (hash)
);
CREATE INDEX ix_tasks_retry on tasks (status, retry_count) where status = 'FAILED' and retry_count < 3;
CREATE TABLE source_records (
	id INTEGER NOT NULL, 
	source_type VARCHAR(20) NOT NULL, 
	source_system VARCHAR(50) NOT NULL, 
	source_id VARCHAR(100) NOT NULL, 
	version INTEGER NOT NULL, 
	version_id INTEGER NOT NULL, 
	digests TEXT NOT NULL, 
	hashes TEXT NOT NULL, 
	quality DOUBLE, 
	last_changed_at TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT ck_source_records_source_type CHECK (source_type in ('supplier_product', 'market_listing', 'order', 'inventory', 'pricing', 'customer', 'analytics')), 
	CONSTRAINT uq_source_records_key UNIQUE (source_type, source_system, source_id)
);
CREATE INDEX ix_source_records_changed ON source_records (source_system, last_changed_at, id);
CREATE INDEX ix_source_records_quality ON source_records (quality, id);
CREATE TABLE source_data (
	id INTEGER NOT NULL, 
	record_id INTEGER NOT NULL, 
	source_type VARCHAR(20) NOT NULL, 
	source_system VARCHAR(50) NOT NULL, 
	source_id VARCHAR(100) NOT NULL, 
	version INTEGER NOT NULL, 
	raw_data JSON NOT NULL, 
	normalized_data JSON NOT NULL, 
	market_data JSON, 
	ai_data JSON, 
	hash VARCHAR(64) NOT NULL, 
	processing_status VARCHAR(20) NOT NULL, 
	workflow_id VARCHAR(100), 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	last_changed_at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT ck_source_data_processing_status CHECK (processing_status in ('raw', 'processing', 'processed', 'error', 'archived')), 
	CONSTRAINT ck_source_data_source_type CHECK (source_type in ('supplier_product', 'market_listing', 'order', 'inventory', 'pricing', 'customer', 'analytics')), 
	CONSTRAINT uq_source_data_version UNIQUE (source_type, source_system, source_id, version)
);
CREATE INDEX ix_source_data_source ON source_data (source_system, source_id);
CREATE INDEX ix_source_data_status ON source_data (processing_status, created_at);
CREATE INDEX ix_source_data_workflow ON source_data (workflow_id, processing_status);
CREATE TABLE field_changes (
	id INTEGER NOT NULL, 
	record_id INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	field VARCHAR(255) NOT NULL, 
	group_name VARCHAR(50) NOT NULL, 
	old_value TEXT NOT NULL, 
	new_value TEXT NOT NULL, 
	changed_at TEXT NOT NULL, 
	raw_id INTEGER, 
	reader VARCHAR(100) NOT NULL, 
	stream VARCHAR(50) NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX ix_field_changes_field ON field_changes (record_id, field, version);
CREATE INDEX ix_field_changes_record ON field_changes (record_id, version, id);
CREATE TABLE data_lineage (
	id INTEGER NOT NULL, 
	parent_id INTEGER, 
	child_id INTEGER NOT NULL, 
	transformation_type VARCHAR(50) NOT NULL, 
	transformation_metadata TEXT NOT NULL, 
	raw_id INTEGER, 
	reader VARCHAR(100) NOT NULL, 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX ix_data_lineage_child ON data_lineage (child_id, id);
CREATE INDEX ix_data_lineage_parent ON data_lineage (parent_id, id);
CREATE INDEX ix_data_lineage_raw ON data_lineage (raw_id);
CREATE TABLE seen_scopes (
	id INTEGER NOT NULL, 
	source_system VARCHAR(50) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT uq_seen_scopes_name UNIQUE (source_system, name)
);
CREATE TABLE source_seen (
	scope_id INTEGER NOT NULL, 
	record_id INTEGER NOT NULL, 
	last_seen_at TEXT NOT NULL, 
	last_run INTEGER NOT NULL, 
	missed INTEGER NOT NULL, 
	missed_run INTEGER NOT NULL, 
	interval_seconds INTEGER NOT NULL, 
	PRIMARY KEY (scope_id, record_id)
)
 WITHOUT ROWID

;
CREATE INDEX ix_source_seen_record ON source_seen (record_id);
CREATE TABLE source_markets (
	market VARCHAR(50) NOT NULL, 
	record_id INTEGER NOT NULL, 
	status VARCHAR(50) NOT NULL, 
	last_sync TEXT NOT NULL, 
	PRIMARY KEY (market, record_id)
);
CREATE INDEX ix_source_markets_record ON source_markets (record_id);
CREATE INDEX ix_source_markets_status ON source_markets (market, status, record_id);
CREATE INDEX ix_source_markets_sync ON source_markets (market, last_sync, record_id);
CREATE TABLE products (
	id INTEGER NOT NULL, 
	mall VARCHAR(50) NOT NULL, 
	product_id VARCHAR(100) NOT NULL, 
	seller_id VARCHAR(100), 
	brand VARCHAR(200), 
	brand_ko VARCHAR(200), 
	name VARCHAR(500), 
	model VARCHAR(200), 
	price BIGINT, 
	list_price BIGINT, 
	currency VARCHAR(3), 
	url VARCHAR(1000), 
	image VARCHAR(1000), 
	in_stock BOOLEAN, 
	listed BOOLEAN, 
	category VARCHAR(500), 
	gender VARCHAR(20), 
	locked TEXT, 
	version INTEGER NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, colours VARCHAR(500), 
	PRIMARY KEY (id), 
	CONSTRAINT uq_products_key UNIQUE (mall, product_id)
);
CREATE INDEX ix_products_brand ON products (mall, brand, id);
CREATE INDEX ix_products_changed ON products (updated_at, id);
CREATE INDEX ix_products_model ON products (model);
CREATE INDEX ix_products_seller ON products (mall, seller_id, id);
CREATE TABLE sellers (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	mall VARCHAR(50) NOT NULL, 
	seller_id VARCHAR(100) NOT NULL, 
	name VARCHAR(200), 
	company VARCHAR(200), 
	contact VARCHAR(200), 
	email VARCHAR(200), 
	status VARCHAR(20) DEFAULT 'Active' NOT NULL, 
	cadence_minutes INTEGER NOT NULL, 
	adaptive BOOLEAN DEFAULT 0 NOT NULL, 
	quality TEXT, 
	paused_reason VARCHAR(500), 
	target_id INTEGER, 
	schedule_id INTEGER, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	CONSTRAINT ck_sellers_status CHECK (status in ('Active', 'Paused', 'Disabled')), 
	CONSTRAINT uq_sellers_key UNIQUE (mall, seller_id)
);
CREATE INDEX ix_sellers_status ON sellers (status, id);
CREATE TABLE suppliers (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR(50) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	base_url VARCHAR(1000), 
	settings TEXT NOT NULL, 
	secret_name VARCHAR(200), 
	is_active BOOLEAN DEFAULT 1 NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	CONSTRAINT ck_suppliers_kind CHECK (kind in ('api', 'excel', 'webhook')), 
	CONSTRAINT uq_suppliers_name UNIQUE (name)
);
CREATE TABLE mall_brands (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	mall_name VARCHAR(50) NOT NULL, 
	mall_brand_no VARCHAR(200) NOT NULL, 
	mall_brand_name_ko VARCHAR(200), 
	mall_brand_name_en VARCHAR(200), 
	raw_brand_name VARCHAR(200), 
	mall_brand_url VARCHAR(1000), 
	buyma_brand_id INTEGER, 
	buyma_brand_name VARCHAR(200), 
	mapping_level INTEGER, 
	is_mapped BOOLEAN DEFAULT 0 NOT NULL, 
	is_active SMALLINT, 
	last_seen_at TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	CONSTRAINT uq_mall_brands_key UNIQUE (mall_name, mall_brand_no)
);
CREATE INDEX ix_mall_brands_review ON mall_brands (mall_name, is_active, id);
CREATE TABLE mall_categories (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	mall_name VARCHAR(50) NOT NULL, 
	full_path VARCHAR(500) NOT NULL, 
	category_id VARCHAR(100), 
	gender VARCHAR(20), 
	depth1 VARCHAR(200), 
	depth2 VARCHAR(200), 
	depth3 VARCHAR(200), 
	depth4 VARCHAR(200), 
	mall_category_url VARCHAR(1000), 
	buyma_category_id INTEGER, 
	is_active SMALLINT, 
	last_seen_at TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	CONSTRAINT uq_mall_categories_path UNIQUE (mall_name, full_path)
);
CREATE INDEX ix_mall_categories_review ON mall_categories (mall_name, is_active, id);
CREATE TABLE crawl_agents (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	source VARCHAR(100) NOT NULL, 
	place INTEGER NOT NULL, 
	user_agent VARCHAR(500) NOT NULL, 
	token TEXT, 
	cookies TEXT, 
	token_expires_at TEXT, 
	token_renew_at TEXT, 
	state VARCHAR(20) DEFAULT 'IDLE' NOT NULL, 
	health INTEGER DEFAULT 100 NOT NULL, 
	leased_by VARCHAR(200), 
	leased_until TEXT, 
	lease_number INTEGER DEFAULT 0 NOT NULL, 
	rest_until TEXT, 
	throttled_in_a_row INTEGER DEFAULT 0 NOT NULL, 
	last_throttled_at TEXT, 
	forgiven_at TEXT, 
	quota_left DOUBLE, 
	calls INTEGER DEFAULT 0 NOT NULL, 
	successes INTEGER DEFAULT 0 NOT NULL, 
	throttles INTEGER DEFAULT 0 NOT NULL, 
	failures INTEGER DEFAULT 0 NOT NULL, 
	last_used_at TEXT, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	CONSTRAINT ck_crawl_agents_state CHECK (state in ('IDLE', 'ACTIVE', 'RATE_LIMITED', 'DISABLED', 'RECOVERED')), 
	CONSTRAINT uq_crawl_agents_source_place UNIQUE (source, place)
);
CREATE TABLE source_gates (
	source VARCHAR(100) NOT NULL, 
	endpoint VARCHAR(100) NOT NULL, 
	state VARCHAR(20) DEFAULT 'CLOSED' NOT NULL, 
	window_started_at TEXT, 
	window_calls INTEGER DEFAULT 0 NOT NULL, 
	window_failures INTEGER DEFAULT 0 NOT NULL, 
	failures_in_a_row INTEGER DEFAULT 0 NOT NULL, 
	opened_at TEXT, 
	open_until TEXT, 
	closed_at TEXT, 
	times_opened INTEGER DEFAULT 0 NOT NULL, 
	probe_number INTEGER DEFAULT 0 NOT NULL, 
	probe_until TEXT, 
	reason VARCHAR(500), 
	blocked_until TEXT, 
	blocked_in_a_row INTEGER DEFAULT 0 NOT NULL, 
	forgiven_at TEXT, 
	answer VARCHAR(20) DEFAULT 'go' NOT NULL, 
	cause VARCHAR(20), 
	answer_until TEXT, 
	answer_reason VARCHAR(500), 
	updated_at TEXT NOT NULL, 
	PRIMARY KEY (source, endpoint), 
	CONSTRAINT ck_source_gates_answer CHECK (answer in ('go', 'wait')), 
	CONSTRAINT ck_source_gates_state CHECK (state in ('CLOSED', 'OPEN', 'HALF_OPEN', 'HALTED'))
);
CREATE TABLE gate_decisions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	at TEXT NOT NULL, 
	source VARCHAR(100) NOT NULL, 
	endpoint VARCHAR(100) NOT NULL, 
	answer VARCHAR(20) NOT NULL, 
	until TEXT, 
	reason VARCHAR(500) NOT NULL, 
	CONSTRAINT ck_gate_decisions_answer CHECK (answer in ('go', 'wait'))
);
CREATE INDEX ix_gate_decisions_source ON gate_decisions (source, id);
CREATE TABLE source_decisions (
	source VARCHAR(100) NOT NULL, 
	enabled BOOLEAN DEFAULT 0 NOT NULL, 
	why VARCHAR(1000) NOT NULL, 
	decided_by VARCHAR(200) NOT NULL, 
	decided_at TEXT NOT NULL, 
	robots TEXT, 
	robots_fetched_at TEXT, rights VARCHAR(20), 
	PRIMARY KEY (source)
);
CREATE TABLE raw_pages (
	id INTEGER NOT NULL, 
	source VARCHAR(100) NOT NULL, 
	endpoint VARCHAR(100) NOT NULL, 
	url VARCHAR(2000) NOT NULL, 
	url_hash VARCHAR(64), 
	sha256 VARCHAR(64) NOT NULL, 
	status INTEGER NOT NULL, 
	headers TEXT, 
	media VARCHAR(200), 
	size INTEGER NOT NULL, 
	fetched_at TEXT NOT NULL, 
	job_id INTEGER, 
	task_id INTEGER, 
	etag VARCHAR(300), 
	PRIMARY KEY (id)
);
CREATE INDEX ix_raw_pages_sha256 ON raw_pages (sha256);
CREATE INDEX ix_raw_pages_source ON raw_pages (source, endpoint, fetched_at);
CREATE INDEX ix_raw_pages_url ON raw_pages (url_hash, id);
CREATE TABLE list_pages (
	job_id INTEGER NOT NULL, 
	ask_key VARCHAR(64) NOT NULL, 
	endpoint VARCHAR(100) NOT NULL, 
	page INTEGER NOT NULL, 
	total INTEGER, 
	is_last BOOLEAN NOT NULL, 
	listed_keys TEXT NOT NULL, 
	raw_id INTEGER, 
	PRIMARY KEY (job_id, ask_key)
);
CREATE TABLE fetch_counts (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	at TEXT NOT NULL, 
	day VARCHAR(10) NOT NULL, 
	source VARCHAR(100) NOT NULL, 
	target VARCHAR(300) NOT NULL, 
	endpoint VARCHAR(100) NOT NULL, 
	job_id INTEGER, 
	success INTEGER DEFAULT 0 NOT NULL, 
	failure INTEGER DEFAULT 0 NOT NULL, 
	retries INTEGER DEFAULT 0 NOT NULL, 
	throttled INTEGER DEFAULT 0 NOT NULL, 
	not_modified INTEGER DEFAULT 0 NOT NULL, 
	items INTEGER DEFAULT 0 NOT NULL, 
	changed INTEGER DEFAULT 0 NOT NULL, 
	bytes INTEGER DEFAULT 0 NOT NULL
);
CREATE INDEX ix_fetch_counts_day ON fetch_counts (day, source, target, endpoint);
CREATE INDEX ix_fetch_counts_job ON fetch_counts (job_id);
CREATE TABLE held_writes (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	source VARCHAR(100) NOT NULL, 
	target VARCHAR(300) NOT NULL, 
	record_key VARCHAR(200) NOT NULL, 
	record_id INTEGER, 
	stream VARCHAR(100) NOT NULL, 
	digest VARCHAR(64), 
	guard VARCHAR(50) NOT NULL, 
	reason VARCHAR(500) NOT NULL, 
	reading TEXT NOT NULL, 
	before_data TEXT, 
	after_data TEXT, 
	raw_id INTEGER, 
	job_id INTEGER, 
	readings INTEGER DEFAULT 1 NOT NULL, 
	state VARCHAR(20) DEFAULT 'HELD' NOT NULL, 
	open_key VARCHAR(410), 
	created_at TEXT NOT NULL, 
	decided_at TEXT, 
	decided_by VARCHAR(200), 
	CONSTRAINT ck_held_writes_state CHECK (state in ('HELD', 'APPROVED', 'REJECTED', 'SUPERSEDED')), 
	CONSTRAINT uq_held_writes_open_key UNIQUE (open_key)
);
CREATE INDEX ix_held_writes_raw ON held_writes (raw_id);
CREATE INDEX ix_held_writes_record ON held_writes (source, record_key, stream, digest);
CREATE INDEX ix_held_writes_state ON held_writes (state, id);
CREATE TABLE collect_runs (
	job_id INTEGER NOT NULL, 
	source VARCHAR(100) NOT NULL, 
	target VARCHAR(300) NOT NULL, 
	scope VARCHAR(300) NOT NULL, 
	mode VARCHAR(20) NOT NULL, 
	known INTEGER DEFAULT 0 NOT NULL, 
	total INTEGER, 
	pages_expected INTEGER, 
	pages_read INTEGER DEFAULT 0 NOT NULL, 
	listed INTEGER DEFAULT 0 NOT NULL, 
	new INTEGER DEFAULT 0 NOT NULL, 
	changed INTEGER DEFAULT 0 NOT NULL, 
	held INTEGER DEFAULT 0 NOT NULL, 
	missed INTEGER DEFAULT 0 NOT NULL, 
	absent INTEGER DEFAULT 0 NOT NULL, 
	unknown TEXT, 
	state VARCHAR(20) DEFAULT 'OPEN' NOT NULL, 
	reason VARCHAR(500), 
	tripped VARCHAR(50), 
	started_at TEXT NOT NULL, 
	closed_at TEXT, 
	PRIMARY KEY (job_id), 
	CONSTRAINT ck_collect_runs_mode CHECK (mode in ('FULL', 'PARTIAL')), 
	CONSTRAINT ck_collect_runs_state CHECK (state in ('OPEN', 'PROVED', 'UNPROVED'))
);
CREATE INDEX ix_collect_runs_scope ON collect_runs (source, scope, started_at);
CREATE TABLE product_options (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	product_id INTEGER NOT NULL, 
	market VARCHAR(50) NOT NULL, 
	axis VARCHAR(20) NOT NULL, 
	source_key VARCHAR(200) NOT NULL, 
	source_code VARCHAR(200), 
	source_text VARCHAR(200) NOT NULL, 
	market_text VARCHAR(200) NOT NULL, 
	master_id INTEGER, 
	position INTEGER NOT NULL, 
	details TEXT NOT NULL, 
	gone BOOLEAN DEFAULT 0 NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	CONSTRAINT ck_product_options_axis CHECK (axis in ('color', 'size')), 
	CONSTRAINT uq_product_options_key UNIQUE (product_id, market, axis, source_key)
);
CREATE TABLE product_variants (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	product_id INTEGER NOT NULL, 
	market VARCHAR(50) NOT NULL, 
	source_key VARCHAR(200) NOT NULL, 
	source_code VARCHAR(200), 
	source_text VARCHAR(200) NOT NULL, 
	color_key VARCHAR(200) NOT NULL, 
	size_key VARCHAR(200) NOT NULL, 
	stock_kind VARCHAR(20) NOT NULL, 
	stock_count INTEGER, 
	price BIGINT, 
	filler BOOLEAN DEFAULT 0 NOT NULL, 
	gone BOOLEAN DEFAULT 0 NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	CONSTRAINT ck_product_variants_stock_kind CHECK (stock_kind in ('count', 'in', 'out', 'unknown')), 
	CONSTRAINT uq_product_variants_key UNIQUE (product_id, market, source_key)
);
CREATE TABLE conversions (
	product_id INTEGER NOT NULL, 
	market VARCHAR(50) NOT NULL, 
	generation INTEGER DEFAULT 1 NOT NULL, 
	source_version INTEGER NOT NULL, 
	data_version INTEGER, 
	converter_version VARCHAR(50) NOT NULL, 
	data TEXT, 
	state VARCHAR(20) NOT NULL, 
	reasons TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, stamp VARCHAR(64) DEFAULT '' NOT NULL, 
	PRIMARY KEY (product_id, market), 
	CONSTRAINT ck_conversions_state CHECK (state in ('READY', 'HELD'))
);
CREATE INDEX ix_conversions_state ON conversions (market, state, product_id);
CREATE TABLE market_masters (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	market VARCHAR(50) NOT NULL, 
	kind VARCHAR(50) NOT NULL, 
	version INTEGER NOT NULL, 
	checksum VARCHAR(64) NOT NULL, 
	row_count INTEGER NOT NULL, 
	content TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	CONSTRAINT uq_market_masters_version UNIQUE (market, kind, version)
);
CREATE TABLE translation_memory (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	source_lang VARCHAR(10) NOT NULL, 
	target_lang VARCHAR(10) NOT NULL, 
	source_hash VARCHAR(64) NOT NULL, 
	source_text TEXT NOT NULL, 
	target_text TEXT NOT NULL, 
	origin VARCHAR(20) NOT NULL, 
	model VARCHAR(100), 
	cost_micros INTEGER DEFAULT 0 NOT NULL, 
	created_at TEXT NOT NULL, 
	used_at TEXT, 
	CONSTRAINT ck_translation_memory_origin CHECK (origin in ('glossary', 'memory', 'model', 'person')), 
	CONSTRAINT uq_translation_memory_source UNIQUE (source_lang, target_lang, source_hash)
);
CREATE TABLE glossary_terms (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	source_lang VARCHAR(10) NOT NULL, 
	target_lang VARCHAR(10) NOT NULL, 
	term VARCHAR(200) NOT NULL, 
	translation VARCHAR(200) NOT NULL, 
	kind VARCHAR(50) NOT NULL, 
	case_sensitive BOOLEAN DEFAULT 0 NOT NULL, 
	created_at TEXT NOT NULL, 
	CONSTRAINT uq_glossary_terms_term UNIQUE (source_lang, target_lang, term)
);
CREATE TABLE product_images (
	product_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	source_url VARCHAR(2000) NOT NULL, 
	url_hash VARCHAR(64) NOT NULL, 
	sha256 VARCHAR(64), 
	state VARCHAR(20) NOT NULL, 
	reason VARCHAR(500), 
	rights VARCHAR(20) NOT NULL, 
	rights_source VARCHAR(50), 
	updated_at TEXT NOT NULL, 
	PRIMARY KEY (product_id, position), 
	CONSTRAINT ck_product_images_position CHECK (position between 1 and 20), 
	CONSTRAINT ck_product_images_rights CHECK (rights in ('own', 'supplier', 'unknown')), 
	CONSTRAINT ck_product_images_state CHECK (state in ('PENDING', 'READY', 'REFUSED', 'FAILED'))
);
CREATE INDEX ix_product_images_sha256 ON product_images (sha256, product_id);
CREATE TABLE image_files (
	made_from VARCHAR(64) NOT NULL, 
	recipe VARCHAR(60) NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	media VARCHAR(30) NOT NULL, 
	width INTEGER NOT NULL, 
	height INTEGER NOT NULL, 
	bytes BIGINT NOT NULL, 
	phash VARCHAR(16), 
	colours VARCHAR(54), 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (made_from, recipe)
);
CREATE INDEX ix_image_files_sha256 ON image_files (sha256);
CREATE INDEX ix_image_files_phash ON image_files (phash);
CREATE TABLE image_fetches (
	url_hash VARCHAR(64) NOT NULL, 
	source_url VARCHAR(2000) NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	etag VARCHAR(300), 
	last_modified VARCHAR(100), 
	reason VARCHAR(500), 
	fetched_at TEXT NOT NULL, 
	PRIMARY KEY (url_hash)
);
CREATE TABLE image_blocks (
	phash VARCHAR(16) NOT NULL, 
	colours VARCHAR(54) NOT NULL, 
	reason VARCHAR(500) NOT NULL, 
	created_by VARCHAR(100) NOT NULL, 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (phash, colours)
);
CREATE TABLE fx_quotes (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	base VARCHAR(3) NOT NULL, 
	quote VARCHAR(3) NOT NULL, 
	rate VARCHAR(40) NOT NULL, 
	spread VARCHAR(40) NOT NULL, 
	source VARCHAR(300) NOT NULL, 
	quoted_at TEXT NOT NULL, 
	state VARCHAR(20) DEFAULT 'TRUSTED' NOT NULL, 
	reason VARCHAR(500) DEFAULT '' NOT NULL, 
	decided_by VARCHAR(200), 
	decided_at TEXT, 
	created_at TEXT NOT NULL, 
	CONSTRAINT ck_fx_quotes_state CHECK (state in ('TRUSTED', 'HELD', 'REJECTED')), 
	CONSTRAINT uq_fx_quotes_base_quote_source_quoted_at UNIQUE (base, quote, source, quoted_at)
);
CREATE INDEX ix_fx_quotes_pair ON fx_quotes (base, quote, state, quoted_at);
CREATE TABLE price_policies (
	id INTEGER NOT NULL, 
	market VARCHAR(50) NOT NULL, 
	account VARCHAR(100) DEFAULT '' NOT NULL, 
	policy TEXT NOT NULL, 
	decided_by VARCHAR(200) NOT NULL, 
	decided_at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT uq_price_policies_market_account UNIQUE (market, account)
);
CREATE TABLE price_quotes (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	product_id INTEGER NOT NULL, 
	sku VARCHAR(200) NOT NULL, 
	market VARCHAR(50) NOT NULL, 
	account VARCHAR(100) NOT NULL, 
	decision VARCHAR(20) NOT NULL, 
	reason VARCHAR(40) NOT NULL, 
	detail VARCHAR(500) DEFAULT '' NOT NULL, 
	price INTEGER, 
	floor INTEGER, 
	ceiling INTEGER, 
	confirmed INTEGER, 
	currency VARCHAR(3) NOT NULL, 
	is_below_floor BOOLEAN DEFAULT 0 NOT NULL, 
	fx_quote_id INTEGER, 
	competitor TEXT, 
	steps TEXT NOT NULL, 
	rules VARCHAR(20) NOT NULL, 
	created_at TEXT NOT NULL
);
CREATE INDEX ix_price_quotes_product ON price_quotes (product_id, market, account, id);
CREATE INDEX ix_price_quotes_sku ON price_quotes (sku, id);
CREATE TABLE market_accounts (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	market VARCHAR(50) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	buying_area VARCHAR(20) NOT NULL, 
	shipping_area VARCHAR(20) NOT NULL, 
	shipping_methods TEXT NOT NULL, 
	shop_name VARCHAR(100) DEFAULT '' NOT NULL, 
	duty VARCHAR(20) DEFAULT '' NOT NULL, 
	fee_tier VARCHAR(50) DEFAULT '' NOT NULL, 
	token_ref VARCHAR(200) DEFAULT '' NOT NULL, 
	secret_ref VARCHAR(200) DEFAULT '' NOT NULL, 
	enabled BOOLEAN DEFAULT 1 NOT NULL, 
	stopped_why VARCHAR(500) DEFAULT '' NOT NULL, 
	blocked_until TEXT, 
	policy TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, seller_name VARCHAR(100) DEFAULT '' NOT NULL, shipping_charge INTEGER, 
	CONSTRAINT uq_market_accounts_market_name UNIQUE (market, name)
);
CREATE TABLE market_calls (
	id INTEGER NOT NULL, 
	listing_id INTEGER NOT NULL, 
	account_id INTEGER NOT NULL, 
	run_id VARCHAR(100) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	family VARCHAR(20) NOT NULL, 
	urgency INTEGER NOT NULL, 
	path VARCHAR(200) NOT NULL, 
	payload TEXT NOT NULL, 
	draft TEXT NOT NULL, 
	state VARCHAR(20) DEFAULT 'INTENT' NOT NULL, 
	open_key INTEGER, 
	token INTEGER DEFAULT 1 NOT NULL, 
	sends INTEGER DEFAULT 1 NOT NULL, 
	due_at TEXT NOT NULL, 
	request_uid VARCHAR(100), 
	answer TEXT, 
	problems TEXT, 
	cause VARCHAR(20), 
	drift TEXT, 
	quote VARCHAR(100) DEFAULT '' NOT NULL, 
	seen_at TEXT, 
	changed_at TEXT, 
	decided_at TEXT, 
	created_at TEXT NOT NULL, 
	sent_at TEXT, 
	accepted_at TEXT, 
	confirmed_at TEXT, 
	read_back_at TEXT, 
	updated_at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT ck_market_calls_ck_market_calls_cause CHECK (cause in ('data', 'mapping', 'outage', 'permanent')), 
	CONSTRAINT ck_market_calls_ck_market_calls_family CHECK (family in ('product', 'stock')), 
	CONSTRAINT ck_market_calls_ck_market_calls_kind CHECK (kind in ('CREATE', 'EDIT', 'STOCK', 'CLOSE', 'REVIVE', 'EXTEND')), 
	CONSTRAINT ck_market_calls_ck_market_calls_state CHECK (state in ('INTENT', 'ACCEPTED', 'UNKNOWN', 'LOST', 'CONFIRMED', 'REJECTED', 'CANCELLED', 'SUPERSEDED')), 
	CONSTRAINT uq_market_calls_open_key UNIQUE (open_key)
);
CREATE INDEX ix_market_calls_due ON market_calls (account_id, state, due_at);
CREATE INDEX ix_market_calls_kind ON market_calls (account_id, kind, created_at);
CREATE INDEX ix_market_calls_listing ON market_calls (listing_id, id);
CREATE INDEX ix_market_calls_run ON market_calls (account_id, run_id, kind);
CREATE TABLE listing_holds (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	account_id INTEGER NOT NULL, 
	listing_id INTEGER NOT NULL, 
	run_id VARCHAR(100) NOT NULL, 
	guard VARCHAR(50) NOT NULL, 
	reason VARCHAR(500) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	state VARCHAR(20) DEFAULT 'HELD' NOT NULL, 
	open_key VARCHAR(80), 
	times INTEGER DEFAULT 1 NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	decided_at TEXT, 
	decided_by VARCHAR(200), 
	CONSTRAINT ck_listing_holds_ck_listing_holds_state CHECK (state in ('HELD', 'APPROVED', 'REJECTED', 'SUPERSEDED')), 
	CONSTRAINT uq_listing_holds_open_key UNIQUE (open_key)
);
CREATE INDEX ix_listing_holds_listing ON listing_holds (listing_id, state);
CREATE INDEX ix_listing_holds_run ON listing_holds (account_id, run_id, guard);
CREATE INDEX ix_listing_holds_state ON listing_holds (account_id, state, id);
CREATE TABLE webhook_inbox (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	account_id INTEGER NOT NULL, 
	dedupe VARCHAR(64) NOT NULL, 
	headers TEXT NOT NULL, 
	body BLOB NOT NULL, 
	genuine BOOLEAN NOT NULL, 
	state VARCHAR(20) DEFAULT 'RECEIVED' NOT NULL, 
	times INTEGER DEFAULT 1 NOT NULL, 
	listing_id INTEGER, 
	call_id INTEGER, 
	note VARCHAR(500) DEFAULT '' NOT NULL, 
	received_at TEXT NOT NULL, 
	applied_at TEXT, 
	CONSTRAINT ck_webhook_inbox_ck_webhook_inbox_state CHECK (state in ('RECEIVED', 'APPLIED', 'STALE', 'UNMATCHED', 'UNREADABLE', 'CONFLICT', 'OTHER', 'FORGED')), 
	CONSTRAINT uq_webhook_inbox_account_id_dedupe UNIQUE (account_id, dedupe)
);
CREATE INDEX ix_webhook_inbox_state ON webhook_inbox (account_id, state, id);
CREATE TABLE call_ledger (
	account_id INTEGER NOT NULL, 
	slot TEXT NOT NULL, 
	family VARCHAR(20) NOT NULL, 
	calls INTEGER NOT NULL, 
	PRIMARY KEY (account_id, slot, family), 
	CONSTRAINT ck_call_ledger_ck_call_ledger_family CHECK (family in ('product', 'stock'))
);
CREATE TABLE pipeline_batches (
	id INTEGER NOT NULL, 
	batch_id VARCHAR(50) NOT NULL, 
	run_mode VARCHAR(20) NOT NULL, 
	status VARCHAR(20) DEFAULT 'RUNNING' NOT NULL, 
	start_time TEXT NOT NULL, 
	end_time TEXT, 
	total_brands INTEGER DEFAULT 0 NOT NULL, 
	success_brands INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT ck_pipeline_batches_run_mode CHECK (run_mode in ('FULL', 'PARTIAL')), 
	CONSTRAINT ck_pipeline_batches_status CHECK (status in ('RUNNING', 'COMPLETED', 'FAILED')), 
	CONSTRAINT uk_batch_id UNIQUE (batch_id)
);
CREATE INDEX idx_pipeline_batches_status ON pipeline_batches (status);
CREATE INDEX idx_pipeline_batches_start_time ON pipeline_batches (start_time);
CREATE TABLE pipeline_control (
	id INTEGER NOT NULL, 
	batch_id VARCHAR(50) NOT NULL, 
	mall_name VARCHAR(100) NOT NULL, 
	brand_name VARCHAR(200) NOT NULL, 
	run_mode VARCHAR(20) NOT NULL, 
	stage VARCHAR(20) NOT NULL, 
	status VARCHAR(20) DEFAULT 'PENDING' NOT NULL, 
	item_count INTEGER DEFAULT 0 NOT NULL, 
	error_msg TEXT, 
	started_at TEXT, 
	updated_at TEXT NOT NULL, 
	job_id INTEGER, 
	PRIMARY KEY (id), 
	CONSTRAINT ck_pipeline_control_run_mode CHECK (run_mode in ('FULL', 'PARTIAL')), 
	CONSTRAINT ck_pipeline_control_stage CHECK (stage in ('COLLECT', 'CONVERT', 'IMAGE', 'PRICE', 'REGISTER')), 
	CONSTRAINT ck_pipeline_control_status CHECK (status in ('PENDING', 'RUNNING', 'DONE', 'ERROR')), 
	CONSTRAINT uk_batch_brand_stage UNIQUE (batch_id, mall_name, brand_name, stage)
);
CREATE INDEX idx_pipeline_control_batch_id ON pipeline_control (batch_id);
CREATE INDEX idx_pipeline_control_status ON pipeline_control (status);
CREATE INDEX idx_pipeline_control_mall_brand ON pipeline_control (mall_name, brand_name);
CREATE INDEX idx_pipeline_control_job ON pipeline_control (job_id);
CREATE TABLE pipeline_brands (
	mall_name VARCHAR(100) NOT NULL, 
	brand_name VARCHAR(200) NOT NULL, 
	batch_id VARCHAR(50) NOT NULL, 
	PRIMARY KEY (mall_name, brand_name)
);
CREATE INDEX idx_pipeline_brands_batch ON pipeline_brands (batch_id);
CREATE TABLE conveyor_marks (
	product_id INTEGER NOT NULL, 
	market VARCHAR(50) NOT NULL, 
	version INTEGER NOT NULL, 
	stamp VARCHAR(64) NOT NULL, 
	model VARCHAR(100) NOT NULL, 
	due_at TEXT NOT NULL, 
	marked_at TEXT NOT NULL, 
	PRIMARY KEY (product_id, market)
);
CREATE TABLE listing_claims (
	account_id INTEGER NOT NULL, 
	goods VARCHAR(310) NOT NULL, 
	product_id INTEGER NOT NULL, 
	mall VARCHAR(100) NOT NULL, 
	claimed_at TEXT NOT NULL, 
	PRIMARY KEY (account_id, goods)
);
CREATE INDEX ix_listing_claims_product ON listing_claims (account_id, product_id);
CREATE INDEX ix_products_mall ON products (mall, id);
CREATE INDEX ix_products_any_brand ON products (brand, id);
CREATE INDEX ix_products_price ON products (price, id);
CREATE INDEX ix_products_url ON products (url);
CREATE TABLE api_replies (
	actor VARCHAR(100) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	status INTEGER NOT NULL, 
	headers TEXT NOT NULL, 
	body TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (actor, name)
);
CREATE INDEX ix_api_replies_created ON api_replies (created_at);
CREATE TABLE users (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR(100) NOT NULL, 
	role VARCHAR(20) NOT NULL, 
	password VARCHAR(200) NOT NULL, 
	language VARCHAR(5) DEFAULT '' NOT NULL, 
	zone VARCHAR(64) DEFAULT '' NOT NULL, 
	theme VARCHAR(10) DEFAULT '' NOT NULL, 
	created_at TEXT NOT NULL, 
	seen_at TEXT, 
	disabled_at TEXT, 
	CONSTRAINT role CHECK (role in ('viewer', 'operator', 'admin')), 
	UNIQUE (name)
);
CREATE TABLE sessions (
	id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	agent VARCHAR(200) NOT NULL, 
	created_at TEXT NOT NULL, 
	seen_at TEXT NOT NULL, 
	expires_at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(user_id) REFERENCES users (id), 
	UNIQUE (hash)
);
CREATE INDEX ix_sessions_user ON sessions (user_id);
CREATE INDEX ix_sessions_expires ON sessions (expires_at);
CREATE TABLE invitations (
	id INTEGER NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	role VARCHAR(20) NOT NULL, 
	name VARCHAR(100) DEFAULT '' NOT NULL, 
	made_by VARCHAR(100) NOT NULL, 
	created_at TEXT NOT NULL, 
	expires_at TEXT NOT NULL, 
	used_at TEXT, 
	PRIMARY KEY (id), 
	CONSTRAINT role CHECK (role in ('viewer', 'operator', 'admin')), 
	UNIQUE (hash)
);
CREATE TABLE preferences (
	user_id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	value TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	PRIMARY KEY (user_id, name), 
	FOREIGN KEY(user_id) REFERENCES users (id)
);
CREATE TABLE engine_history (
	name VARCHAR(100) NOT NULL, 
	label VARCHAR(200) NOT NULL, 
	at TEXT NOT NULL, 
	value DOUBLE NOT NULL, 
	PRIMARY KEY (name, label, at)
);
CREATE INDEX ix_engine_history_at ON engine_history (at);
CREATE TABLE sync_marks (
	source VARCHAR(50) NOT NULL, 
	stream VARCHAR(50) NOT NULL, 
	target VARCHAR(255) DEFAULT '' NOT NULL, 
	until TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	PRIMARY KEY (source, stream, target)
);
CREATE TABLE supplier_files (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	supplier VARCHAR(50) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	size INTEGER NOT NULL, 
	state VARCHAR(20) DEFAULT 'RECEIVED' NOT NULL, 
	sheet VARCHAR(100) DEFAULT '' NOT NULL, 
	rows INTEGER DEFAULT 0 NOT NULL, 
	accepted INTEGER DEFAULT 0 NOT NULL, 
	refused INTEGER DEFAULT 0 NOT NULL, 
	mapping TEXT, 
	report TEXT, 
	job_id INTEGER, 
	created_by VARCHAR(100) NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	CONSTRAINT state CHECK (state in ('RECEIVED', 'PREVIEWED', 'IMPORTING', 'DONE', 'FAILED', 'DISCARDED'))
);
CREATE INDEX ix_supplier_files_supplier ON supplier_files (supplier, id);
CREATE INDEX ix_supplier_files_content ON supplier_files (supplier, sha256);
CREATE INDEX ix_supplier_files_state ON supplier_files (state, id);
CREATE TABLE inbound_events (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	source VARCHAR(50) NOT NULL, 
	event VARCHAR(200) NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	state VARCHAR(20) DEFAULT 'RECEIVED' NOT NULL, 
	attempts INTEGER DEFAULT 0 NOT NULL, 
	error VARCHAR(500), 
	received_at TEXT NOT NULL, 
	done_at TEXT, 
	CONSTRAINT state CHECK (state in ('RECEIVED', 'DONE', 'FAILED')), 
	UNIQUE (source, event)
);
CREATE INDEX ix_inbound_events_state ON inbound_events (state, id);
CREATE INDEX ix_raw_pages_task ON raw_pages (task_id);
CREATE INDEX ix_fetch_counts_source ON fetch_counts (source, at);
CREATE INDEX ix_collect_runs_target ON collect_runs (source, target, job_id);
CREATE INDEX ix_image_fetches_sha256 ON image_fetches (sha256);
CREATE INDEX ix_crawling_jobs_target ON crawling_jobs (target_id, id);
CREATE INDEX ix_dead_letters_fingerprint ON dead_letters (fingerprint, task_id);
CREATE INDEX ix_fx_quotes_state ON fx_quotes (state, id);
CREATE INDEX ix_listing_holds_open ON listing_holds (state, id);
CREATE INDEX ix_products_brand_ko ON products (mall, brand_ko, id);
CREATE TABLE removed_products (
	id INTEGER NOT NULL, 
	url VARCHAR(1000), 
	removed_at TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX ix_removed_url ON removed_products (url);
CREATE INDEX ix_price_quotes_below ON price_quotes (is_below_floor, id);
CREATE TABLE search_rebuilds (
	name VARCHAR(100) NOT NULL, 
	number INTEGER NOT NULL, 
	phase VARCHAR(20) NOT NULL, 
	done INTEGER NOT NULL, 
	total INTEGER NOT NULL, 
	error TEXT, 
	asked_at TEXT NOT NULL, 
	ended_at TEXT, 
	PRIMARY KEY (name)
);
CREATE INDEX ix_translation_memory_origin ON translation_memory (origin, id);
CREATE TABLE "competitor_prices" (
	id INTEGER NOT NULL, 
	market VARCHAR(50) NOT NULL, 
	model VARCHAR(100) NOT NULL, 
	search VARCHAR(20) DEFAULT 'NEVER' NOT NULL, 
	total INTEGER, 
	currency VARCHAR(3), 
	seller VARCHAR(200) DEFAULT ('') NOT NULL, 
	title VARCHAR(500) DEFAULT ('') NOT NULL, 
	offers INTEGER DEFAULT 0 NOT NULL, 
	comparable INTEGER DEFAULT 0 NOT NULL, 
	excluded TEXT, 
	found_at TEXT, 
	checked_at TEXT, 
	failures INTEGER DEFAULT 0 NOT NULL, 
	interval_seconds INTEGER NOT NULL, 
	due_at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT uq_competitor_prices_market_model UNIQUE (market, model), 
	CONSTRAINT ck_competitor_prices_search CHECK (search in ('FOUND', 'EMPTY', 'UNCLEAR', 'FAILED', 'NEVER'))
);
CREATE INDEX ix_competitor_prices_due ON competitor_prices (market, due_at, id);
CREATE TABLE image_doubts (
	id INTEGER NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	product_id INTEGER NOT NULL, 
	reason VARCHAR(500) NOT NULL, 
	raised_at TEXT NOT NULL, 
	allowed_at TEXT, 
	allowed_by VARCHAR(100), 
	PRIMARY KEY (id), 
	CONSTRAINT ck_image_doubts_kind CHECK (kind in ('SHARED', 'LIKE', 'COVER')), 
	CONSTRAINT uq_image_doubts UNIQUE (sha256, kind, product_id)
);
CREATE TABLE image_revisits (
	id INTEGER NOT NULL, 
	product_id INTEGER NOT NULL, 
	refresh BOOLEAN NOT NULL, 
	asked_at TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX ix_image_revisits_product_id ON image_revisits (product_id);
CREATE TABLE listings (
	id INTEGER NOT NULL, 
	account_id INTEGER NOT NULL, 
	product_id INTEGER NOT NULL, 
	sku VARCHAR(310) NOT NULL, 
	reference VARCHAR(40), 
	market_id VARCHAR(40), 
	state VARCHAR(20) DEFAULT 'NEW' NOT NULL, 
	confirmed TEXT, 
	market_updated VARCHAR(40) DEFAULT '' NOT NULL, 
	drift TEXT, 
	open_call INTEGER, 
	refusal_cause VARCHAR(20), 
	refusal_digest VARCHAR(64), 
	refusal_until TEXT, 
	refusal_words VARCHAR(500), 
	day VARCHAR(10), 
	day_price INTEGER, 
	available_until VARCHAR(10), 
	confirmed_at TEXT, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, shipping_charge INTEGER, closed_at TEXT, closed_by VARCHAR(200), closed_why VARCHAR(500), unseen_at TEXT, retired INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT ck_listings_ck_listings_state CHECK (state in ('NEW', 'SENT', 'REJECTED', 'DRAFT', 'IN_REVIEW', 'NOT_APPROVED', 'LIVE', 'SOLD_OUT', 'SUSPENDED', 'BLOCKED', 'DELETED', 'REMOVED')), 
	CONSTRAINT uq_listings_reference UNIQUE (reference), 
	CONSTRAINT uq_listings_account_id_product_id_retired UNIQUE (account_id, product_id, retired), 
	CONSTRAINT uq_listings_account_id_market_id UNIQUE (account_id, market_id)
);
CREATE INDEX ix_listings_sku ON listings (sku);
CREATE INDEX ix_listings_state ON listings (account_id, state, id);
CREATE INDEX ix_listings_until ON listings (account_id, available_until);
CREATE INDEX ix_listings_refused ON listings (refusal_cause);
CREATE INDEX ix_listings_closed ON listings (closed_at);
CREATE INDEX ix_listings_unseen ON listings (unseen_at);
CREATE TABLE market_fees (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	market VARCHAR(50) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	tier VARCHAR(50) DEFAULT '' NOT NULL, 
	category VARCHAR(200) DEFAULT '' NOT NULL, 
	valid_from VARCHAR(10) NOT NULL, 
	rate VARCHAR(40) NOT NULL, 
	amount INTEGER DEFAULT 0 NOT NULL, 
	currency VARCHAR(3) NOT NULL, 
	source VARCHAR(300) NOT NULL, 
	CONSTRAINT ck_market_fees_kind CHECK (kind in ('sale', 'payout')), 
	CONSTRAINT uq_market_fees_row UNIQUE (market, kind, tier, category, valid_from)
);
CREATE TABLE freight_rates (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	leg VARCHAR(20) NOT NULL, 
	route VARCHAR(50) NOT NULL, 
	category VARCHAR(200) DEFAULT '' NOT NULL, 
	up_to_grams INTEGER NOT NULL, 
	valid_from VARCHAR(10) NOT NULL, 
	amount INTEGER DEFAULT 0 NOT NULL, 
	currency VARCHAR(3) NOT NULL, 
	source VARCHAR(300) NOT NULL, 
	CONSTRAINT ck_freight_rates_leg CHECK (leg in ('domestic', 'international')), 
	CONSTRAINT uq_freight_rates_row UNIQUE (leg, route, category, up_to_grams, valid_from)
);
CREATE TABLE "duty_rates" (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	country VARCHAR(2) NOT NULL, 
	category VARCHAR(200) DEFAULT ('') NOT NULL, 
	material VARCHAR(50) DEFAULT ('') NOT NULL, 
	construction VARCHAR(50) DEFAULT ('') NOT NULL, 
	valid_from VARCHAR(10) NOT NULL, 
	rate VARCHAR(40) NOT NULL, 
	least INTEGER DEFAULT 0 NOT NULL, 
	is_exemptable BOOLEAN DEFAULT 1 NOT NULL, 
	source VARCHAR(300) NOT NULL, 
	up_to INTEGER DEFAULT 0 NOT NULL, 
	CONSTRAINT uq_duty_rates_row UNIQUE (country, category, material, construction, up_to, valid_from)
);
CREATE TABLE import_taxes (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	country VARCHAR(2) NOT NULL, 
	valid_from VARCHAR(10) NOT NULL, 
	taxable_share VARCHAR(40) NOT NULL, 
	exempt_up_to INTEGER DEFAULT 0 NOT NULL, 
	consumption_rate VARCHAR(40) NOT NULL, 
	clearance INTEGER DEFAULT 0 NOT NULL, 
	currency VARCHAR(3) NOT NULL, 
	source VARCHAR(300) NOT NULL, 
	CONSTRAINT uq_import_taxes_country_valid_from UNIQUE (country, valid_from)
);
CREATE VIEW claimed_tasks as 
        select c.token, c.worker_id, c.claimed_at,
          json_extract(e.value, '$[0]') as task_id, json_extract(e.value, '$[1]') as job_id,
          json_extract(e.value, '$[3]') as due, json_extract(e.value, '$[4]') as queue,
          json_extract(e.value, '$[5]') as priority, json_extract(e.value, '$[6]') as attempt
        from queue_claims c, json_each(c.entries) e;
CREATE VIEW crawling_tasks as 
    select t.id, t.job_id, t.step_id, t.target_url, t.task_type,
      case when c.task_id is not null then 'RUNNING' else t.status end as status,
      t.outcome, t.retry_count, t.sequence_number, t.task_key, t.input_data, t.output_data,
      coalesce(c.claimed_at, t.started_at) as started_at, t.completed_at, t.response_time_ms, t.error_message,
      t.created_at, t.updated_at, c.worker_id, c.token
    from tasks t left join claimed_tasks c on c.task_id = t.id;
CREATE VIEW crawling_queues as select q.task_id as id, case q.queue when 0 then 'HIGH_PRIORITY' when 1 then 'NORMAL' when 2 then 'LOW_PRIORITY' end as queue_type, q.job_id, q.task_id, q.priority, 'WAITING' as status, strftime('%Y-%m-%d %H:%M:%f000', (q.due - (case q.queue when 0 then 0 when 1 then 60000 when 2 then 600000 end) - 5000 * (10 - q.priority)) / 1000.0, 'unixepoch') as scheduled_for, q.attempt as attempt_count, t.input_data as payload, t.created_at, t.updated_at from queue_ready q join tasks t on t.id = q.task_id union all select q.task_id as id, case q.queue when 0 then 'HIGH_PRIORITY' when 1 then 'NORMAL' when 2 then 'LOW_PRIORITY' end as queue_type, q.job_id, q.task_id, q.priority, 'WAITING' as status, q.run_at as scheduled_for, q.attempt as attempt_count, t.input_data as payload, t.created_at, t.updated_at from queue_delayed q join tasks t on t.id = q.task_id union all select q.task_id as id, case q.queue when 0 then 'HIGH_PRIORITY' when 1 then 'NORMAL' when 2 then 'LOW_PRIORITY' end as queue_type, q.job_id, q.task_id, q.priority, 'WAITING' as status, q.until as scheduled_for, q.attempt as attempt_count, t.input_data as payload, t.created_at, t.updated_at from queue_held q join tasks t on t.id = q.task_id union all select q.task_id as id, case q.queue when 0 then 'HIGH_PRIORITY' when 1 then 'NORMAL' when 2 then 'LOW_PRIORITY' end as queue_type, q.job_id, q.task_id, q.priority, 'PROCESSING' as status, q.claimed_at as scheduled_for, q.attempt as attempt_count, t.input_data as payload, t.created_at, t.updated_at from claimed_tasks q join tasks t on t.id = q.task_id union all select q.task_id as id, case q.queue when 0 then 'HIGH_PRIORITY' when 1 then 'NORMAL' when 2 then 'LOW_PRIORITY' end as queue_type, q.job_id, q.task_id, q.priority, 'FAILED' as status, q.created_at as scheduled_for, q.dispatches as attempt_count, t.input_data as payload, t.created_at, t.updated_at from dead_letters q join tasks t on t.id = q.task_id;
CREATE VIEW v_job_statistics as 
    select date(created_at) as job_date, workflow_id, count(*) as total_jobs,
      sum(case when status = 'SUCCESS' then 1 else 0 end) as success_jobs,
      avg((julianday(completed_at) - julianday(started_at)) * 86400.0) as avg_duration_sec, sum(processed_items) as total_items_processed
    from crawling_jobs where created_at >= strftime('%Y-%m-%d %H:%M:%f000', 'now', '-7 days')
    group by date(created_at), workflow_id;
CREATE VIEW source_data_current as 
    select d.id, d.record_id, d.source_type, d.source_system, d.source_id, d.version, d.raw_data, d.normalized_data, d.market_data, d.ai_data, d.hash, d.processing_status, d.workflow_id, d.created_at, d.updated_at, d.last_changed_at, (select max(s.last_seen_at) from source_seen s where s.record_id = r.id) as last_seen_at
    from source_records r join source_data d on d.id = r.version_id;
CREATE VIEW raw_scraped_data as 
    select r.id, r.source_system as source_site, r.source_id as mall_product_id, p.brand as brand_name_en,
      p.brand_ko as brand_name_kr, p.name as product_name, p.model as model_id, p.category as category_path,
      p.list_price as original_price, p.price as raw_price,
      case when p.in_stock then 'in_stock' when not p.in_stock then 'out_of_stock' end as stock_status,
      d.normalized_data as raw_json_data, p.url as product_url, r.created_at, p.updated_at
    from source_records r join source_data d on d.id = r.version_id join products p on p.id = r.id
    where r.source_type = 'supplier_product';
CREATE VIEW ace_products as 
    select c.product_id as id, c.product_id as raw_data_id, p.mall as source_site, l.reference as reference_number,
      l.market_id as buyma_product_id,
      (select min(m.confirmed_at) from market_calls m where m.listing_id = l.id and m.kind = 'CREATE')
        as buyma_registered_at,
      json_extract(c.data, '$.model') as model_no, case when l.state = 'LIVE' then 'publish' when l.state in ('SOLD_OUT', 'SUSPENDED') then 'suspend'
      when l.state in ('DELETED', 'REMOVED') then 'delete' else 'draft' end as control, l.state as status,
      json_extract(c.data, '$.name') as name, json_extract(c.data, '$.comments') as comments,
      cast(json_extract(c.data, '$.brand_id') as bigint) as brand_id, coalesce(nullif(json_extract(c.data, '$.brand_name'), ''), p.brand) as brand_name,
      cast(json_extract(c.data, '$.category_id') as bigint) as category_id,
      case when p.currency = 'KRW' then p.list_price end as original_price_krw,
      case when p.currency = 'KRW' then p.price end as purchase_price_krw,
      coalesce(cast(json_extract(l.confirmed, '$.price') as bigint), q.price) as price, cast(json_extract(q.competitor, '$.total.amount_minor') as bigint) as buyma_lowest_price,
      case when coalesce(cast(json_extract(l.confirmed, '$.price') as bigint), q.price) <= cast(json_extract(q.competitor, '$.total.amount_minor') as bigint) then 1 when coalesce(cast(json_extract(l.confirmed, '$.price') as bigint), q.price) > cast(json_extract(q.competitor, '$.total.amount_minor') as bigint) then 0 end as is_lowest_price,
      q.created_at as margin_calculated_at, l.available_until, a.buying_area as buying_area_id,
      a.shipping_area as shipping_area_id, a.shop_name as buying_shop_name, a.duty,
      cast(json_extract(c.data, '$.season_id') as bigint) as season_id, json_extract(c.data, '$.size_unit') as size_unit,
      p.url as source_product_url, p.model as source_model_id, p.list_price as source_original_price,
      p.price as source_sales_price,
      case when exists (select 1 from product_images i where i.product_id = c.product_id and i.state = 'READY')
        then 1 else 0 end as is_image_uploaded,
      case when c.state = 'READY' then 1 else 0 end as is_ready_to_publish,
      case when l.state = 'LIVE' then 1 else 0 end as is_published,
      case when p.listed is null or p.listed then 1 else 0 end as is_active, c.created_at, c.updated_at
    from conversions c join products p on p.id = c.product_id
      left join listings l on l.id = (select min(x.id) from market_accounts y join listings x
        on x.account_id = y.id and x.product_id = c.product_id and x.retired = 0 where y.market = 'buyma')
      left join market_accounts a on a.id = l.account_id
      left join price_quotes q on q.id = (select max(z.id) from price_quotes z
        where z.product_id = c.product_id and z.market = 'buyma')
    where c.market = 'buyma' and c.data is not null;
CREATE VIEW ace_product_images as 
    select i.product_id * 100 + i.position as id, i.product_id as ace_product_id, i.position,
      i.source_url as source_image_url, case when i.state = 'READY' then '/media/' || coalesce((select max(f.sha256) from image_files f
        where f.made_from = i.sha256 and f.recipe <> 'original'), i.sha256) end as cloudflare_image_url,
      case when i.state = 'READY' then 1 else 0 end as is_uploaded, i.reason as upload_error, i.updated_at
    from product_images i;
CREATE VIEW buyma_lowest_prices as 
    select id, model as model_id, total as lowest_price, seller as lowest_price_seller, title as lowest_price_title,
      comparable as competitor_count, excluded as price_data_json, search as last_result,
      checked_at as last_checked_at, due_at as next_check_at, found_at as updated_at
    from competitor_prices where market = 'buyma';
insert into alembic_version values ('0026');
insert into id_blocks values ('task', 1);
insert into id_blocks values ('source_record', 1);
insert into id_blocks values ('source_data', 1);
insert into id_blocks values ('raw_page', 1);
insert into id_blocks values ('listing', 1);
insert into id_blocks values ('market_call', 1);
