"""Every mechanism has a live case that `make test` runs, so that `matrix` repeats and adds none.

The tables say which. A fault, a lab, or a kind of host or of load host that is new wants a line;
what only a Kubernetes can show is run by `make kubernetes`.
"""

import ast
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from brownout.faults import registry

ROOT = Path(__file__).parents[1]

ON_AEROSPIKE = (
    "experiments/test_on_aerospike.py::"
    "test_a_wiped_node_comes_back_empty_and_no_acknowledged_write_is_lost"
)
ON_ETCD = (
    "experiments/test_on_etcd.py::test_a_killed_leader_costs_an_election_and_no_acknowledged_write"
)
ON_REDIS = (
    "experiments/test_on_redis.py::"
    "test_a_killed_master_costs_a_failover_of_its_shard_and_no_acknowledged_write"
)
ON_SENTINEL = (
    "experiments/test_on_redis_sentinel.py::"
    "test_a_killed_master_is_replaced_by_its_sentinels_and_returns_as_a_replica"
)
ON_POSTGRESQL = (
    "experiments/test_on_postgresql.py::"
    "test_a_killed_primary_costs_its_lease_and_another_one_is_promoted"
)
ON_STREAMING = (
    "experiments/test_on_postgresql_streaming.py::"
    "test_nobody_takes_over_from_a_killed_primary_before_a_standby_is_promoted"
)
ON_ATLAS = (
    "experiments/test_on_atlas.py::"
    "test_it_is_measured_from_its_effect_loses_nothing_and_every_probe_knows_of_it"
)
ON_LAB_ATLAS = "faults/atlas/test_on_lab_atlas.py::"
OVER_SSH = "faults/test_over_ssh.py::test_a_wipe_under_load_is_measured_on_machines_reached_by_ssh"
CUT_OFF = (
    "experiments/test_partition.py::"
    "test_all_that_a_cut_off_primary_acknowledged_alone_is_found_lost"
)
BAD_LINK = "faults/test_link.py::test_a_primary_on_a_bad_link_keeps_its_role_and_is_put_back"
REPLACED_WHEN_CUT_OFF = (
    "infra/lab/test_network_of_a_lab.py::"
    "test_a_primary_that_is_cut_off_is_replaced_and_joins_the_others_again"
)
MAJORITY = (
    "experiments/test_partition.py::"
    "test_a_primary_without_a_majority_steps_down_and_no_acknowledged_write_is_lost"
)
RACK = (
    "experiments/test_resizing.py::test_a_whole_rack_dies_and_every_record_has_a_copy_on_the_other"
)
REPLACED = (
    "faults/test_changes.py::test_a_replaced_member_is_back_in_the_end_with_the_say_that_it_had"
)
SLOWED = (
    "faults/test_delay.py::"
    "test_every_answer_of_a_slowed_primary_comes_so_much_later_and_nobody_is_elected"
)
STEPDOWN = (
    "experiments/test_stepdown.py::"
    "test_one_election_one_primary_how_long_a_secondary_caught_up_and_what_an_application_saw"
)
QUIESCED = (
    "faults/test_quiesce.py::"
    "test_a_quiesce_has_no_effect_before_the_recluster_and_is_not_proven_before_it"
)

FAULTS = {
    "add_node": REPLACED,
    "adjust": "faults/test_changes_of_aerospike.py::"
    "test_no_node_may_be_broken_added_or_removed_while_it_would_come_back_with_another_factor",
    "admit_node": REPLACED,
    "cut_off": "faults/test_cut_off.py::"
    "test_a_node_does_not_reach_its_coordination_and_reaches_everything_else",
    "cut_one_way": "faults/test_link.py::"
    "test_a_primary_that_clients_do_not_hear_stays_primary_though_we_do_not_hear_it_either",
    "delay_node": SLOWED,
    "hold_connections": "faults/test_connections.py::"
    "test_a_primary_counts_what_is_held_and_has_it_no_more_after_the_undo",
    "fail_disk": "machine/test_disk_errors.py::"
    "test_every_second_flush_fails_from_the_third_on_and_then_none",
    "fill_disk": "faults/test_disk_full.py::"
    "test_the_full_disk_of_a_leader_is_freed_and_the_leader_started_if_it_ended",
    "kill_node": ON_AEROSPIKE,
    "kill_supervisor": "faults/test_supervisor.py::"
    "test_two_members_accept_writes_until_the_supervisor_is_back",
    "limit_bandwidth": BAD_LINK,
    "lose_packets": BAD_LINK,
    "partition_node": CUT_OFF,
    "pause_cluster": ON_LAB_ATLAS + "test_a_paused_cluster_is_resumed_by_the_rollback",
    "pause_node": "session/test_abort.py::"
    "test_availability_under_its_bound_ends_a_hang_that_nobody_else_would_end",
    "promote_standby": ON_STREAMING,
    "quiesce_node": QUIESCED,
    "reboot_node": "faults/test_quiesce.py::"
    "test_a_node_that_was_quiesced_and_stopped_is_started_first_and_then_given_its_work_back",
    "recluster": QUIESCED,
    "remove_node": REPLACED,
    "resize_cluster": ON_LAB_ATLAS + "test_a_resize_restarts_every_member_and_is_put_back",
    "run_chaos_engine": "litmus/test_engines_on_kubernetes.py::"
    "test_the_experiment_runs_an_engine_under_load_and_keeps_what_litmus_said",
    "skew_clock": "faults/test_clock.py::"
    "test_a_primary_tells_a_wrong_time_until_the_undo_and_lab_up_sets_it_right_too",
    "limit_disk": "faults/test_disk_limit.py::"
    "test_a_primary_with_a_limited_disk_keeps_its_role_and_is_put_back",
    "slow_disk": "faults/test_disk_slow.py::"
    "test_a_primary_with_a_slow_disk_is_traced_flushes_late_and_is_put_back",
    "slow_volume": "machine/test_volume_slow.py::"
    "test_what_a_node_makes_safe_takes_so_much_longer_and_then_no_more",
    "stall_disk": "faults/test_disk_stall.py::"
    "test_the_stalled_disk_of_a_leader_is_given_back_by_the_record_of_a_run_that_died",
    "start_outage": ON_LAB_ATLAS
    + "test_an_outage_cuts_the_primarys_region_off_until_a_run_that_died_is_healed",
    "step_down_primary": STEPDOWN,
    "stop_node": "experiments/test_resizing.py::"
    "test_every_member_is_restarted_in_turn_and_the_primary_last",
    "test_failover": ON_ATLAS,
    "throttle_node": "faults/test_throttle.py::"
    "test_a_throttled_primary_keeps_its_role_and_is_put_back",
    "oom_kill_node": "faults/test_memory_squeeze.py::"
    "test_the_kernel_kills_a_primary_and_the_undo_starts_it",
    "steal_cpu": "faults/test_cpu_steal.py::"
    "test_a_secondary_runs_beside_processes_that_steal_its_cpu_and_is_put_back",
    "squeeze_memory": "faults/test_memory_squeeze.py::"
    "test_a_squeezed_primary_runs_on_and_is_put_back",
    "wipe_node": OVER_SSH,
}
#: Atlas does the same for these as for a resize: they restart every member, which is `matrix`.
AS_RESIZED = {"set_maintenance_window", "start_maintenance"}
LABS = {
    "lab-aerospike": ON_AEROSPIKE,
    "lab-aerospike-racks": RACK,
    "lab-atlas": ON_ATLAS,
    "lab-etcd": ON_ETCD,
    "lab-etcd-disk": "infra/lab/test_file_systems_of_a_lab.py::"
    "test_a_lab_whose_maker_was_killed_is_made_anew_with_its_file_systems",
    "lab-etcd-majority": "databases/etcd/lab/test_lab.py::"
    "test_without_a_quorum_no_member_leads_and_with_one_again_all_is_whole",
    "lab-etcd-partition": REPLACED_WHEN_CUT_OFF,
    "lab-etcd-secure": "databases/etcd/lab/test_lab.py::"
    "test_a_secured_lab_serves_who_has_a_certificate_and_nobody_else",
    "lab-mongodb": STEPDOWN,
    "lab-mongodb-majority": MAJORITY,
    "lab-mongodb-partition": CUT_OFF,
    "lab-mongodb-racks": "infra/lab/test_spares.py::"
    "test_racks_are_dealt_out_in_turn_and_are_tags_of_the_members",
    "lab-mongodb-secure": "security/test_runs.py::"
    "test_a_run_by_password_leaves_it_in_no_file_and_in_no_process",
    "lab-mongodb-sharded": "experiments/test_on_shards.py::"
    "test_a_killed_primary_is_felt_in_the_lanes_of_its_shard_only",
    "lab-mongodb-slow": SLOWED,
    "lab-redis": ON_REDIS,
    "lab-redis-sentinel": ON_SENTINEL,
    "lab-redis-clock": "faults/test_clock.py::"
    "test_a_primary_tells_a_wrong_time_until_the_undo_and_lab_up_sets_it_right_too",
    "lab-redis-partition": REPLACED_WHEN_CUT_OFF,
    "lab-redis-secure": "databases/redis/lab/test_lab.py::"
    "test_a_secured_lab_serves_who_has_a_certificate_and_a_password_and_nobody_else",
    "lab-postgresql": ON_POSTGRESQL,
    "lab-postgresql-streaming": ON_STREAMING,
    "lab-postgresql-secure": "databases/postgresql/lab/test_lab.py::"
    "test_a_secured_lab_serves_who_has_its_password_and_nobody_else",
    "lab-postgresql-sync": "databases/postgresql/lab/test_lab.py::"
    "test_a_synchronous_lab_has_a_replica_that_commits_wait_for",
}
#: Labs that fetch what they run, or take gigabytes and minutes, or do what another one shows: all
#: that runs on them is `matrix`.
HEAVY = {
    *("lab-aerospike-gray", "lab-cassandra", "lab-cassandra-partition", "lab-cassandra-secure"),
    *("lab-postgresql-partition", "lab-postgresql-patroni3", "lab-redis-sentinel-partition"),
    *("lab-cassandra-disk", "lab-mongodb-disk", "lab-postgresql-disk", "lab-redis-disk"),
    *("lab-cassandra-gray", "lab-etcd-gray", "lab-mongodb-gray", "lab-mongodb-gray-defaults"),
    *("lab-postgresql-gray", "lab-postgresql-gray-defaults", "lab-redis-gray"),
    *("lab-redis-gray-defaults", "lab-cassandra-clock", "lab-mongodb-clock"),
}
#: Labs that are mocks, on which nothing is broken: a load on one is `matrix`.
MOCKS = {"lab-couchbase"}
HOSTS = {
    "docker": "machine/docker/test_mongod.py::"
    "test_a_primary_is_killed_wiped_and_started_and_the_set_is_whole_again",
    "kubernetes": "machine/kubernetes/test_mongod.py::"
    "test_a_wiped_member_gets_another_volume_and_all_data_again",
    "process": STEPDOWN,
    "ssh": OVER_SSH,
}
LOADS = {
    "kubernetes": "load/kubernetes/test_experiment.py::"
    "test_a_node_is_killed_under_a_load_from_three_pods",
    "ssh": OVER_SSH,
}
OTHERS = {
    "a client without conditional writes": "load/test_write_once.py::"
    "test_transactions_that_one_member_alone_acknowledged_are_found_lost_one_by_one",
    "a canary beside the load": STEPDOWN,
    "a dead man's switch on another machine": "experiments/test_partition_over_ssh.py::"
    "test_a_run_killed_in_mid_partition_leaves_a_node_that_joins_the_others_by_itself",
    "a fault felt on one shard only": LABS["lab-mongodb-sharded"],
    "a fault that ends before its undo": "experiments/test_contract.py::"
    "test_a_pause_that_somebody_ends_is_inconclusive_and_has_its_true_length_everywhere",
    "a generator that is starved": "calibration/test_starved.py::"
    "test_a_starved_generator_makes_a_run_inconclusive",
    "a login with least rights": "machine/ssh/test_sudoers.py::"
    "test_every_act_is_done_with_these_rights_and_nothing_beyond_them",
    "a machine that is not the one that was known": "session/test_hosts.py::"
    "test_a_changed_host_key_is_refused_by_the_plan_and_before_a_run_begins",
    "a pass, by exit code 0": OVER_SSH,
    "a rack that dies": RACK,
    "a role that moves before the fault": "experiments/test_contract.py::"
    "test_the_member_that_is_primary_at_the_kill_is_killed_though_another_one_was_planned",
    "a second election, when a member returns": "experiments/test_second_election.py::"
    "test_a_member_with_priority_that_takes_over_again_is_judged_by_what_its_return_costs",
    "a run as a test": "testing/test_plugin.py::"
    "test_a_real_stepdown_with_a_short_baseline_is_no_pass",
    "a run that fails, for lost writes": CUT_OFF,
    "a run that is not in its store": "runs/store/test_delivery.py::"
    "test_a_run_that_is_not_in_the_store_says_so",
    "a run that Prometheus sees": "dashboards/test_seen.py::"
    "test_the_graphs_show_the_same_drop_as_impact_json",
    "copies that are lost": "load/test_lost_copies.py::"
    "test_two_nodes_wiped_at_once_lose_just_what_had_no_other_copy",
    "garbled data": "load/test_garbled_data.py::"
    "test_garbled_records_are_lost_and_the_next_run_loads_them_anew",
    "known truth": "calibration/test_quick.py::test_what_is_measured_is_what_truly_happened",
    "nodes restarted in turn": FAULTS["stop_node"],
    "reads that are older than was acknowledged": "load/test_stale_reads.py::"
    "test_reads_of_a_standby_that_replays_nothing_are_stale_and_allowed",
    "registers that are not linearizable": "load/test_stale_reads.py::"
    "test_reads_of_replicas_that_get_nothing_are_stale",
    "several generators as one": "load/group/test_known_truth.py::"
    "test_in_every_bucket_as_much_is_offered_of_each_stream",
}
TABLES = {"fault": FAULTS, "lab": LABS, "host": HOSTS, "load": LOADS, "mechanism": OTHERS}


def test_every_fault_and_lab_and_kind_of_host_has_a_live_case() -> None:
    assert {*FAULTS, *AS_RESIZED} == {
        fault.name for fault in registry.faults().values()
        if type(fault).__module__.startswith("brownout.")
    }  # fmt: skip
    clusters = (ROOT / "infra" / "clusters").glob("lab-*.yaml")
    assert {*LABS, *HEAVY, *MOCKS} == {path.stem for path in clusters}
    assert set(HOSTS) == ours("brownout.hosts")
    assert set(LOADS) == ours("brownout.loads")


def ours(group: str) -> set[str]:
    """The names of an entry point that brownout itself gives."""
    return {
        entry.name for entry in entry_points(group=group) if entry.value.startswith("brownout.")
    }


@pytest.mark.parametrize(
    ("what", "case"),
    [(f"{kind}: {name}", case) for kind, table in TABLES.items() for name, case in table.items()],
)
def test_its_live_case_is_there_and_make_test_runs_it(what: str, case: str) -> None:
    path, _, name = case.partition("::")
    marks = marks_of(ROOT / "tests" / path, name)
    assert not marks & {"matrix", "soak", "skip"}
    assert ("kubernetes" in marks) == ("kubernetes" in path)


def marks_of(path: Path, name: str) -> set[str]:
    """The marks that a test and its module have."""
    module = ast.parse(path.read_text())
    (test,) = [
        node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    given: list[ast.expr] = [*test.decorator_list]
    for node in module.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            given += node.value.elts if isinstance(node.value, ast.List) else [node.value]
    words = [ast.unparse(each).partition("(")[0] for each in given]
    return {word.removeprefix("pytest.mark.") for word in words if word.startswith("pytest.mark.")}
