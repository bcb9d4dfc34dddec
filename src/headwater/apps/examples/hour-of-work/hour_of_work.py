# %% [markdown]
# # An hour of work on recorded data
#
# Three questions to three recorded data sets, with pandas on both sides: the ten worst hours of each day in the air of Beijing,
# spikes of heat without rain in the Andes, and sensors of a laboratory that agree. At the end there are three files of answers and a
# picture.
#
# The folder that `HEADWATER_DATA` names has the data sets as they are published: `beijing-air-quality/` (UCI, "Beijing Multi-Site Air
# Quality"), `polkura-hydromet/` (the Polkura stream of CORE) and `intel-lab/` (temperatures of the Intel Berkeley lab).

# %%
import os
from pathlib import Path

import pandas as pd

import headwater as hw

DATA = Path(os.environ.get("HEADWATER_DATA", "data"))
missing = [
    name for name in ("beijing-air-quality", "polkura-hydromet", "intel-lab") if not (DATA / name).is_dir()
]
if missing:
    raise SystemExit(
        f"set HEADWATER_DATA to the folder with the data sets; not in '{DATA}': {', '.join(missing)}"
    )

# %% [markdown]
# ## The ten worst hours of each day
#
# Hours in the files are those of Beijing. Headwater takes times without a zone as UTC, and the days of `EMIT EVERY 1 DAY` begin at
# midnight UTC. Left without a zone, the hours of Beijing give days of Beijing.

# %%
files = sorted((DATA / "beijing-air-quality").glob("PRSA_Data_*.csv*"))
air = pd.concat([pd.read_csv(file) for file in files], ignore_index=True)
air["at"] = pd.to_datetime(air[["year", "month", "day", "hour"]])
air = air.rename(columns={"PM2.5": "pm25"})[["station", "at", "pm25"]]
print(
    f"{len(air):,} hours of {air['station'].nunique()} stations, {air['pm25'].isna().sum():,} without a value"
)

# %%
WORST = """
CREATE STREAM air (station STRING KEY, at TIMESTAMP TIME, pm25 DOUBLE);

CREATE QUERY worst AS
  SELECT rank, station, object_time AS hour, pm25
  FROM air NEAREST (10 TO HIGHEST pm25 OVER 1 DAY EMIT EVERY 1 DAY);
"""
answers = hw.run(WORST, {"air": air})
print(answers)
worst = answers["worst"].to_pandas()
worst.to_csv("worst.csv", index=False)
print(worst.sort_values("pm25", ascending=False).head(3)[["station", "hour", "pm25"]].to_string(index=False))

# %% [markdown]
# ## Spikes of heat without rain
#
# Five degrees more within four hours, and no rain at the same site within a day of the beginning. Sites without a rain gauge are left
# out: of them nobody knows.

# %%
columns = {"Variable": "kind", "Fecha": "at", "Sitio": "site", "Valor": "value"}
readings = pd.read_csv(DATA / "polkura-hydromet" / "PolkuraAbrilMayo.csv.gz", sep=";").rename(columns=columns)
readings["at"] = pd.to_datetime(readings["at"])
gauges = set(readings.loc[readings["kind"] == "Rainfall", "site"])
readings = readings[readings["site"].isin(gauges) & readings["kind"].isin(["AirTemperature", "Rainfall"])]
print(f"{len(readings):,} readings of {len(gauges)} sites with a rain gauge")

# %%
SPIKES = """
CREATE STREAM readings (site STRING KEY, at TIMESTAMP TIME, kind STRING, value DOUBLE);

CREATE QUERY spikes AS
  SELECT * FROM readings MATCH_RECOGNIZE (
    PARTITION BY site
    MEASURES low.at AS began, low.value AS low, high.at AS reached, high.value AS high
    PATTERN (low ~> high ~> NOT rain) WITHIN 1 DAY
    DEFINE low AS kind = 'AirTemperature',
           high AS kind = 'AirTemperature' AND value >= low.value + 5 AND at - low.at <= 4 HOURS,
           rain AS kind = 'Rainfall' AND value > 0
  );
"""
answers = hw.run(SPIKES, {"readings": readings})
spikes = answers["spikes"].to_pandas()
spikes.to_csv("spikes.csv", index=False)
print(spikes.groupby("site").size().rename("spikes").to_string())

# %% [markdown]
# ## Sensors that agree
#
# Three sensors report 30 degrees or more within ten minutes: within one kilometre of one another, which is the whole laboratory, and
# within ten metres, which is a room. Places are metres in a plane. Of the readings, one in five minutes is enough.

# %%
places = pd.read_csv(DATA / "intel-lab" / "mote_locs.txt", sep=r"\s+", names=["mote", "x", "y"])
motes = [mote for mote in range(1, 55) if mote not in (5, 15)]
table = pd.read_csv(DATA / "intel-lab" / "subsfin.txt.gz", sep=r"\s+", names=motes)
table.index = pd.Timestamp("2004-03-01") + pd.to_timedelta(30 * table.index, unit="s")
lab = table.iloc[::10].rename_axis("at").reset_index().melt("at", var_name="mote", value_name="temperature")
lab = lab.astype({"mote": "int64"}).merge(places, on="mote")
print(f"{len(lab):,} readings of {lab['mote'].nunique()} motes")

# %%
AGREE = """
CREATE STREAM lab (mote BIGINT KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, temperature DOUBLE, PLACE (x, y));

CREATE QUERY agree AS
  SELECT warm_1_key AS first, warm_2_key AS second, warm_3_key AS third
  FROM lab CORRELATE (3 OF temperature >= 30 AS warm WITHIN 10 MINUTES, 1 KM);

CREATE QUERY agree_in_a_room AS
  SELECT warm_1_key AS first, warm_2_key AS second, warm_3_key AS third
  FROM lab CORRELATE (3 OF temperature >= 30 AS warm WITHIN 10 MINUTES, 10 METERS);
"""
answers = hw.run(AGREE, {"lab": lab})
agree, room = answers["agree"].to_pandas(), answers["agree_in_a_room"].to_pandas()
agree.to_csv("agree.csv", index=False)
room.to_csv("agree_in_a_room.csv", index=False)
print(f"{len(agree):,} times within 1 km, {len(room):,} times within 10 m")

# %% [markdown]
# ## A picture
#
# `pip install 'headwater[pictures]'` installs matplotlib.

# %%
import matplotlib.pyplot as plt  # noqa: E402

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4), layout="constrained")
left.hist(worst["hour"].dt.hour, bins=range(25), color="tab:brown")
left.set(title="The ten worst hours of each day", xlabel="hour of the day in Beijing", ylabel="hours")
for site, of_site in spikes.groupby("site"):
    middle.plot(of_site["reached"], of_site["high"] - of_site["low"], "o", label=site)
middle.set(title="Heat without rain", ylabel="degrees above the beginning")
middle.tick_params(axis="x", rotation=30)
middle.legend(fontsize="small")
times = room[["first", "second", "third"]].stack().value_counts().rename("times").rename_axis("mote")
right.scatter(places["x"], places["y"], s=8, color="lightgrey")
warm = places.merge(times.reset_index(), on="mote")
right.scatter(warm["x"], warm["y"], s=warm["times"], color="tab:red", alpha=0.5)
right.set(title="Motes that agree on 30 degrees", xlabel="x (m)", ylabel="y (m)")
figure.savefig("hour.png")
print("worst.csv, spikes.csv, agree.csv, agree_in_a_room.csv and hour.png are written")
